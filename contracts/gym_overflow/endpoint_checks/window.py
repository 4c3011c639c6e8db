"""1xx: a prompt that leaves no room for one token."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from contracts.gym_overflow import sources, strategies
from contracts.gym_overflow.judging import shown, sites_that, text_of
from contracts.gym_overflow.probe import Probe, Route, send
from contracts.gym_overflow.refusal import STATUS, error_object, problems
from contracts.gym_overflow.ruler import window_of
from contracts.gym_overflow.sides import endpoint
from contracts.gym_overflow.window_probes import FULL, ONE_OVER, ROOM_FOR_ONE

if TYPE_CHECKING:
    from contracts.answer import Answer
    from contracts.check import Check
    from contracts.gym_overflow.protocols import Endpoint

_FIRST_ERROR = 400


def hold_refused_alike(
    check: Check[Endpoint], adapter: Endpoint, probe: Probe, route: Route = Route.CHAT, **fields: object
) -> None:
    """Send an overflow with more fields or on another route, and hold the refusal to that of the plain chat request."""
    hold_alike(check, adapter, send(adapter, probe, route, **fields), probe, route)


def hold_alike(
    check: Check[Endpoint], adapter: Endpoint, answer: Answer, probe: Probe, route: Route = Route.CHAT
) -> None:
    """Hold the refusal of a prompt of the probe's length to that of the probe itself, a plain chat request.

    What is wrong with the plain one too is found by its own checks, and not once more for every form of a prompt.
    """
    plain, offset = send(adapter, probe), probe.offset
    known = {_kind(problem) for problem in _problems(adapter, plain, offset)}
    wrong = [problem for problem in _problems(adapter, answer, offset) if _kind(problem) not in known]
    if answer.status < _FIRST_ERROR:
        wrong.insert(0, f"it was answered {answer.status}")
    if wrong:
        raise check.fail(
            f"an overflow was not refused as one: {wrong[0]}",
            got=shown(answer),
            want=f"refused as the plain chat request is: {shown(plain)}",
            problems=wrong,
            route=route.value,
            prompt_tokens=window_of(adapter) + offset,
            window=window_of(adapter),
        )


def _problems(adapter: Endpoint, answer: Answer, offset: int) -> list[str]:
    """All that is wrong with an answer as the refusal of a prompt of ``window + offset`` tokens."""
    window = window_of(adapter)
    missed = [f"not classified by {site}" for site in sites_that(answer, classify=False)]
    return problems(answer, prompt_tokens=window + offset, window=window) + missed


def _kind(problem: str) -> str:
    """A problem without what it quotes."""
    return problem.partition(":")[0]


@endpoint.check("GO-101", source=sources.RETRIES, examples=(FULL, ONE_OVER), cases=strategies.overflows)
def overflow_is_a_400(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """A prompt that leaves no room for one token is answered with status 400.

    Why: Gym's classifier looks at no other status; a 500 burns the retries of the rollout, a 429 or 503 burns them
    without end in two releases.

    Usual cause: the overflow is raised as a plain ValueError, or from a path that the handler does not cover.
    """
    answer = send(adapter, case)
    if answer.status != STATUS:
        raise check.fail("an overflow has the wrong status", got=shown(answer), want=STATUS)


@endpoint.check("GO-102", source=sources.NEMO_RL, examples=(FULL, ONE_OVER), cases=strategies.overflows)
def overflow_body_is_an_error_object(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """An overflow's body is an OpenAI error object that says "maximum context length", the real numbers and a code.

    Why: clients and classifiers find the overflow by these words; the numbers are what a person debugs with.

    Usual cause: a message reworded to the server's own term (max_model_len), or numbers taken before the template was
    applied.
    """
    answer = send(adapter, case)
    window = window_of(adapter)
    wrong = [
        problem
        for problem in problems(answer, prompt_tokens=window + case.offset, window=window)
        if not problem.startswith("status")
    ]
    if wrong:
        raise check.fail(wrong[0], got=shown(answer), want="a complete error object", problems=wrong, window=window)


@endpoint.check("GO-103", source=sources.CLASSIFIER, examples=(FULL, ONE_OVER), cases=strategies.overflows)
def every_gym_classifies_it(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """Every site of every selected Gym classifies an overflow as one.

    Why: this is the agreement itself; where one site does not, its rollouts fail instead of ending cleanly.

    Usual cause: the endpoint's words or status changed, or Gym's classifier did.
    """
    answer = send(adapter, case)
    if missed := sites_that(answer, classify=False):
        raise check.fail(f"an overflow is missed by {missed[0]}", got=shown(answer), want="classified", missed=missed)


@endpoint.check("GO-104", source=sources.VLLM_FULL_WINDOW, examples=(ROOM_FOR_ONE,), cases=strategies.last_fits)
def last_fitting_prompt_is_served(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """A prompt that leaves room for exactly one token is answered 200 with that token.

    Why: an endpoint that refuses too early loses the last step of every long rollout, and a probe of the window that
    never sees a 200 proves nothing.

    Usual cause: an off-by-one comparison with the window.
    """
    answer = send(adapter, case)
    if answer.status != 200:  # noqa: PLR2004 - HTTP's OK
        raise check.fail("a prompt that fits was refused", got=shown(answer), want="200", window=window_of(adapter))


@endpoint.check("GO-105", source=sources.CLASSIFIER, examples=(FULL,), cases=strategies.overflows)
def refusal_depends_on_nothing_else(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """A prompt that fills the window and a longer one are refused alike, whatever output limit is asked for.

    Why: a full window that is answered like the client bug max_tokens=0 cannot be told from it by any classifier.

    Usual cause: the full window is only noticed after the output limit has been clamped to zero.
    """
    full, longer = (send(adapter, Probe(offset=offset, turns=case.turns)) for offset in (0, max(case.offset, 1)))
    limited = send(adapter, Probe(offset=0, output_limit=case.output_limit or 1, turns=case.turns))
    statuses = [full.status, longer.status, limited.status]
    words = [_wording(answer) for answer in (full, longer, limited)]
    if len(set(statuses)) != 1 or len(set(words)) != 1:
        raise check.fail(
            "a full window is refused unlike a longer prompt",
            got=[shown(answer) for answer in (full, longer, limited)],
            want="one status and one wording",
        )


def _wording(answer: Answer) -> str:
    """The error with its numbers taken out, or the whole body where it is no error object."""
    # What may stand beside the error, such as the id of the request, is no part of it.
    error = error_object(answer)
    said = " ".join(f"{name}={error.get(name)}" for name in ("message", "type", "param", "code"))
    return re.sub(r"\d+", "#", said if error else text_of(answer))
