"""21x: what must not change a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.gym_overflow import sources, strategies
from contracts.gym_overflow.fault import WORD_PLACES, FaultyRequest, Suspicion, faults_of, send_faulty
from contracts.gym_overflow.judging import shown, sites_that
from contracts.gym_overflow.probe import Probe, Route, send
from contracts.gym_overflow.ruler import model_of, window_of
from contracts.gym_overflow.sides import endpoint

if TYPE_CHECKING:
    from contracts.answer import Answer
    from contracts.check import Check
    from contracts.gym_overflow.protocols import Endpoint

_LIMITED = tuple(FaultyRequest(fault, "hello", 4) for fault in faults_of(Route.CHAT))


@endpoint.check("GO-211", source=sources.VLLM_ECHO, examples=_LIMITED, cases=strategies.faulty_requests)
def output_limit_changes_no_verdict(check: Check[Endpoint], adapter: Endpoint, case: FaultyRequest) -> None:
    """Adding `max_tokens` to a faulty request never changes whether it is classified as an overflow.

    Why: on vLLM 0.13 to 0.25 any fault was swallowed as soon as the client set max_tokens.

    Usual cause: the error echoes the request, and with it the name of the field.
    """
    without = send_faulty(adapter, FaultyRequest(case.fault, case.words))
    with_limit = send_faulty(adapter, FaultyRequest(case.fault, case.words, case.output_limit or 4))
    _hold_alike(check, without, with_limit, "an output limit")


@endpoint.check(
    "GO-212",
    source=sources.CLASSIFIER,
    examples=(Probe(-1, 3), Probe(0, 3), Probe(1, 3), Probe(-8, 3)),
    cases=strategies.around_the_window,
)
def output_limit_moves_no_window(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """Adding a valid output limit to a request never changes whether its prompt overflows.

    Why: the window belongs to the prompt; a limit that moves it makes equal rollouts end differently.

    Usual cause: the limit is subtracted from the window before the prompt is held against it.
    """
    without = send(adapter, Probe(case.offset, None, case.turns, case.lead))
    with_limit = send(adapter, Probe(case.offset, case.output_limit or 3, case.turns, case.lead))
    _hold_alike(check, without, with_limit, "an output limit", same_status=True)


@endpoint.check(
    "GO-213",
    source=sources.VLLM_ECHO,
    examples=tuple(
        Suspicion(place, "max_tokens context length", overflows) for place in WORD_PLACES for overflows in (False, True)
    ),
    cases=strategies.suspicions,
)
def words_of_the_user_change_no_verdict(check: Check[Endpoint], adapter: Endpoint, case: Suspicion) -> None:
    """The classifier's words in user text, tool schemas, stop strings, model or field names never change the verdict.

    Why: a user who writes about context lengths would otherwise have every error of theirs swallowed.

    Usual cause: an error message quotes the part of the request that it complains about.
    """
    neutral = "".join("x" if letter.isalpha() else letter for letter in case.words)
    plain, suspicious = (
        adapter.request("POST", Route.CHAT, json=_with_words(adapter, case, words)) for words in (neutral, case.words)
    )
    _hold_alike(check, plain, suspicious, f"words in the {case.place}", same_status=True)


def _with_words(adapter: Endpoint, case: Suspicion, words: str) -> dict[str, Any]:
    text = " a" * window_of(adapter) if case.overflows else "a"
    user = {"role": "user", "content": text}
    body: dict[str, Any] = {"model": model_of(adapter), "messages": [user], "max_tokens": 1}
    match case.place:
        case "user text":
            user["content"] = f"{words} {text}"
        case "system text":
            body["messages"].insert(0, {"role": "system", "content": words})
        case "stop string":
            body["stop"] = [words]
        case "tool schema":
            # Not valid, so that an endpoint without tools and one that checks them both have something to say.
            body["tools"] = [{"type": "function", "function": {"name": "f", "description": words, "parameters": 3}}]
        case "model name":
            body["model"] = words
        case "unknown field":
            body[words.replace(" ", "_")] = words
    return body


def _hold_alike(
    check: Check[Endpoint], plain: Answer, changed: Answer, change: str, *, same_status: bool = False
) -> None:
    classified = [bool(sites_that(answer, classify=True)) for answer in (plain, changed)]
    if classified[0] != classified[1] or (same_status and plain.status != changed.status):
        raise check.fail(f"{change} changes the verdict", got=shown(changed), want=f"as without it: {shown(plain)}")
