"""22x: nothing is truncated, refused or made up in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.gym_overflow import sources
from contracts.gym_overflow.judging import shown
from contracts.gym_overflow.probe import Probe, send
from contracts.gym_overflow.refusal import STATUS
from contracts.gym_overflow.ruler import window_of
from contracts.gym_overflow.sides import endpoint
from contracts.gym_overflow.silent import lies, stream_lies
from contracts.gym_overflow.window_probes import ROOM_FOR_ONE, SHORT

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.gym_overflow.protocols import Endpoint

OK = 200


@endpoint.check("GO-221", source=sources.CLASSIFIER, examples=(Probe(-1), Probe(-2), Probe(-8), Probe(-8, 4, turns=3)))
def answers_are_truthful(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """A 200 states the whole prompt in its usage, holds at least one generated token and no error text.

    Why: a prompt that was cut to fit trains the model on something that it was not asked, and an empty success is
    a finished rollout that nobody sampled.

    Usual cause: the server truncates from the left to make room, or wraps its error in a completion.
    """
    answer = send(adapter, case)
    prompt_tokens = window_of(adapter) + case.offset
    wrong = [f"status {answer.status}"] if answer.status != OK else lies(adapter, answer, prompt_tokens)
    if wrong:
        raise check.fail(f"a 200 is not truthful: {wrong[0]}", got=shown(answer), want="a true 200", problems=wrong)


@endpoint.check("GO-223", source=sources.CLASSIFIER, requires={"streaming"}, examples=(ROOM_FOR_ONE, SHORT))
def streams_are_truthful(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """A prompt that fits is streamed as events that hold a completion with its end, and no error.

    Why: a stream cannot take its 200 back, so what goes wrong in it is read as the completion.

    Usual cause: an exception in the generator of the stream is written out as its last event.
    """
    answer = send(adapter, case, stream=True)
    wrong = [f"status {answer.status}"] if answer.status != OK else stream_lies(answer)
    if wrong:
        raise check.fail(
            f"a stream is not truthful: {wrong[0]}", got=shown(answer, 2000), want="a true stream", problems=wrong
        )


@endpoint.check("GO-222", source=sources.RETRIES, examples=(2, 10, 40))
def far_overflow_has_no_other_status(check: Check[Endpoint], adapter: Endpoint, case: int) -> None:
    """A prompt many times the window is refused with 400 too, never with 413, 422, 429 or a 5xx.

    Why: none of those is classified, and some are retried without end.

    Usual cause: a limit on characters or bytes answers before the window does.
    """
    answer = send(adapter, Probe(offset=window_of(adapter) * (case - 1)))
    if answer.status != STATUS:
        raise check.fail(f"a prompt of {case} windows has another status", got=shown(answer), want=STATUS)
