"""51x: what the classifier catches, and what it leaves alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.gym_overflow import sources
from contracts.gym_overflow.answer_strategies import answers_with_another_status
from contracts.gym_overflow.gym import verdict
from contracts.gym_overflow.recorded_answers import RecordedAnswer, measured_answers, reference_answers
from contracts.gym_overflow.sides import classifier
from contracts.source import Source

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.gym_overflow.protocols import ClassifierSource

_MEASURED = Source("vLLM 0.13 to 0.32, answers measured on real servers", "each answer has one verdict in all Gyms")
_SENT = Source.ours("these are the answers that the reference endpoint gives; a test keeps the recording current")
_OVERFLOWS = tuple(answer for answer in reference_answers() if answer.kind == "overflow")
_OTHERS = tuple(answer for answer in reference_answers() if answer.kind != "overflow")
_ALL_WORDS = RecordedAnswer("made up", "not_overflow", 500, "maximum context length max_tokens", classified=False)
_NO_WORDS = RecordedAnswer("made up", "not_overflow", 500, "no word that any classifier looks for", classified=False)


@classifier.check("GO-511", source=_SENT, examples=_OVERFLOWS)
def conforming_overflow_is_caught(
    check: Check[ClassifierSource], adapter: ClassifierSource, case: RecordedAnswer
) -> None:
    """Every site classifies the overflow answers of the reference endpoint.

    Why: this is the other half of the agreement: Gym moves, and the endpoint that conformed does so no longer.

    Usual cause: a reworded substring, or a check of another status.
    """
    decided = verdict(adapter.gym, case.status, case.body)
    if not decided.overflow:
        missed = [
            f"{decision.site.file}:{decision.site.line}" for decision in decided.decisions if not decision.overflow
        ]
        raise check.fail("a conforming overflow is missed", got=f"missed by {missed}", want="caught", **_rules(adapter))


@classifier.check("GO-512", source=_SENT, examples=_OTHERS)
def other_errors_are_left_alone(
    check: Check[ClassifierSource], adapter: ClassifierSource, case: RecordedAnswer
) -> None:
    """No site classifies any other answer of the reference endpoint.

    Why: a Gym that swallows every 400 trains on rollouts that never happened.

    Usual cause: an `and` between status and words became an `or`.
    """
    decided = verdict(adapter.gym, case.status, case.body)
    if decided.overflow_anywhere:
        raise check.fail("another error is classified", got="caught", want="left alone", answer=case, **_rules(adapter))


@classifier.check("GO-513", source=_MEASURED, examples=measured_answers())
def measured_verdicts_stand(check: Check[ClassifierSource], adapter: ClassifierSource, case: RecordedAnswer) -> None:
    """Every answer measured on a real server gets the verdict that was recorded with it.

    Why: a changed verdict on a real answer is a changed fate of real rollouts, for better or worse.

    Usual cause: Gym's expression changed; if on purpose, the table has to be measured again.
    """
    decided = verdict(adapter.gym, case.status, case.body)
    got = {f"line {decision.site.line}": decision.overflow for decision in decided.decisions}
    if set(got.values()) != {case.classified}:
        raise check.fail("a measured answer has another verdict", got=got, want=case.classified, **_rules(adapter))


@classifier.check(
    "GO-514",
    source=sources.CLASSIFIER,
    examples=(
        RecordedAnswer("made up", "overflow", 500, "maximum context length max_tokens", classified=False),
        _NO_WORDS,
    ),
    cases=answers_with_another_status,
)
def only_a_400_is_classified(check: Check[ClassifierSource], adapter: ClassifierSource, case: RecordedAnswer) -> None:
    """No status but 400 is classified, whatever the body holds.

    Why: a 5xx that mentions a context length is a crash, and has to be seen as one.

    Usual cause: the status is not looked at, or not on every path.
    """
    if verdict(adapter.gym, case.status, case.body).overflow_anywhere:
        raise check.fail(f"a {case.status} is classified", got="caught", want="left alone", **_rules(adapter))


def _rules(adapter: ClassifierSource) -> dict[str, Any]:
    return {f"line_{site.line}": site.classifier.source for site in adapter.gym.sites}
