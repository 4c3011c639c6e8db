"""12x: a prompt that fits, with an output limit that does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.gym_overflow import sources, strategies
from contracts.gym_overflow.judging import shown
from contracts.gym_overflow.probe import LIMIT_FIELD, Route
from contracts.gym_overflow.ruler import window_of
from contracts.gym_overflow.sides import endpoint
from contracts.gym_overflow.silent import Exceeding, clamped_answer, clamped_wrongly, lies

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.gym_overflow.protocols import Endpoint

OK = 200
_EXCEEDING: dict[str, Any] = {
    "examples": (Exceeding(room=4, excess=1), Exceeding(room=1, excess=10**6)),
    "cases": strategies.clamped,
}


@endpoint.check("GO-121", source=sources.VLLM_CLAMP, **_EXCEEDING)
def output_limit_is_clamped(check: Check[Endpoint], adapter: Endpoint, case: Exceeding) -> None:
    """A prompt that fits is answered 200 when its output limit exceeds the window: clamped, finish_reason "length".

    Why: the rollout has room left; refusing it ends the episode early, and classifying it as an overflow hides that.

    Usual cause: prompt and output limit are added up and held against the window together.
    """
    _hold_clamped(check, adapter, case, Route.CHAT, LIMIT_FIELD[Route.CHAT])


@endpoint.check("GO-122", source=sources.VLLM_CLAMP, requires={"max_completion_tokens"}, **_EXCEEDING)
def max_completion_tokens_is_clamped(check: Check[Endpoint], adapter: Endpoint, case: Exceeding) -> None:
    """`max_completion_tokens` is clamped as `max_tokens` is.

    Why: newer clients send only this field, and vLLM's refusal of it is classified by no site.

    Usual cause: the clamp reads one of the two fields.
    """
    _hold_clamped(check, adapter, case, Route.CHAT, "max_completion_tokens")


@endpoint.check("GO-123", source=sources.VLLM_CLAMP, requires={"completions"}, **_EXCEEDING)
def completions_are_clamped(check: Check[Endpoint], adapter: Endpoint, case: Exceeding) -> None:
    """`/v1/completions` clamps the output limit as the chat route does.

    Why: Gym's completions backend sends the same limits.

    Usual cause: the clamp is applied in one of the routes.
    """
    _hold_clamped(check, adapter, case, Route.COMPLETIONS, LIMIT_FIELD[Route.COMPLETIONS])


@endpoint.check("GO-124", source=sources.VLLM_CLAMP, requires={"responses"}, **_EXCEEDING)
def responses_are_clamped(check: Check[Endpoint], adapter: Endpoint, case: Exceeding) -> None:
    """`/v1/responses` clamps `max_output_tokens` as the chat route does its limit.

    Why: vLLM's refusal of it names a field that no site looks for, and becomes a 500 in the proxy.

    Usual cause: the clamp is applied in one of the routes.
    """
    _hold_clamped(check, adapter, case, Route.RESPONSES, LIMIT_FIELD[Route.RESPONSES])


def _hold_clamped(check: Check[Endpoint], adapter: Endpoint, case: Exceeding, route: Route, field: str) -> None:
    answer = clamped_answer(adapter, case, route, field)
    want = f"200, finish_reason length after {case.room} generated tokens, or an earlier end of its own"
    facts = {"route": route.value, "field": field, "window": window_of(adapter)}
    if answer.status != OK:
        raise check.fail(f"{field} above the window was refused", got=shown(answer), want=want, **facts)
    wrong = lies(adapter, answer, window_of(adapter) - case.room)
    if ended := clamped_wrongly(answer, case.room):
        wrong.append(ended)
    if wrong:
        raise check.fail(f"{field} was not clamped: {wrong[0]}", got=shown(answer), want=want, problems=wrong, **facts)
