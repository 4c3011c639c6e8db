"""2xx: a client's own mistake is never taken for an overflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.gym_overflow import sources, strategies
from contracts.gym_overflow.fault import Fault, FaultyRequest, send_faulty
from contracts.gym_overflow.judging import shown, sites_that, text_of
from contracts.gym_overflow.probe import Route, body_of
from contracts.gym_overflow.refusal import MARKER
from contracts.gym_overflow.sides import endpoint
from contracts.gym_overflow.window_probes import SHORT

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.gym_overflow.protocols import Endpoint

EACH_FAULT = tuple(
    FaultyRequest(fault, words, limit)
    for fault in Fault
    for words, limit in (("max_tokens", None), ("context length", 4))
)


@endpoint.check("GO-201", source=sources.VLLM_ECHO, examples=EACH_FAULT, cases=strategies.faulty_requests)
def client_error_is_not_an_overflow(check: Check[Endpoint], adapter: Endpoint, case: FaultyRequest) -> None:
    """No client error is classified as an overflow by any site, whatever the request holds.

    Why: a classified error ends the rollout as if it had been finished; the bug in the client is never seen and the
    model is trained on an empty turn.

    Usual cause: a validation error that names the field max_tokens, or echoes the request.
    """
    answer = send_faulty(adapter, case)
    if alarmed := sites_that(answer, classify=True):
        raise check.fail(
            f"a client error ({case.fault}) is classified as an overflow by {alarmed[0]}",
            got=shown(answer),
            want="an error that no site classifies",
            alarmed=alarmed,
        )


@endpoint.check("GO-202", source=sources.NEMO_RL, requires={"internal_fault"}, examples=("boom", "context length"))
def internal_fault_stays_a_500(check: Check[Endpoint], adapter: Endpoint, case: str) -> None:
    """An unrelated ValueError inside the server is answered 500 and classified by no site.

    Why: an endpoint that answers every ValueError as an overflow hides its own crashes as finished rollouts.

    Usual cause: an except clause that catches ValueError without asking what it says.
    """
    answer = adapter.internal_fault(case, "POST", Route.CHAT, body_of(adapter, SHORT))  # type: ignore[attr-defined]  # offered by adapters that declare the capability
    if answer.status != 500 or sites_that(answer, classify=True) or MARKER in text_of(answer):  # noqa: PLR2004 - HTTP
        raise check.fail("an internal fault is not answered as one", got=shown(answer), want="500 without the marker")
