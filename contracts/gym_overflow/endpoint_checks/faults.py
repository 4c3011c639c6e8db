"""2xx: a client's own mistake is never taken for an overflow."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from contracts.gym_overflow import sources, strategies
from contracts.gym_overflow.fault import LIMIT_FAULTS, Fault, FaultyRequest, faults_of, send_faulty
from contracts.gym_overflow.judging import shown, sites_that, text_of
from contracts.gym_overflow.probe import Route, body_of
from contracts.gym_overflow.refusal import MARKER, is_error_object
from contracts.gym_overflow.sides import endpoint
from contracts.gym_overflow.window_probes import SHORT
from contracts.level import Level

if TYPE_CHECKING:
    from contracts.answer import Answer
    from contracts.check import Check
    from contracts.gym_overflow.protocols import Endpoint

OK = 200
_SERVER_ERROR = 500


def each_fault(route: Route, *words: str) -> tuple[FaultyRequest, ...]:
    """Every fault that can be made on a route, with these words, with and without an output limit."""
    return tuple(
        FaultyRequest(fault, word, limit, route)
        for fault in faults_of(route)
        for word, limit in zip(words, (None, 4), strict=True)
    )


EACH_FAULT = each_fault(Route.CHAT, "max_tokens", "context length")
_NEUTRAL = ("hello", "hello")


@endpoint.check(
    "GO-201",
    source=sources.VLLM_ECHO,
    examples=tuple(case for case in each_fault(Route.CHAT, *_NEUTRAL) if case.fault not in LIMIT_FAULTS),
    cases=strategies.faults_beside_the_limit,
)
def client_error_is_not_an_overflow(check: Check[Endpoint], adapter: Endpoint, case: FaultyRequest) -> None:
    """No client error is classified as an overflow by any site.

    Why: a classified error ends the rollout as if it had been finished; the bug in the client is never seen and the
    model is trained on an empty turn. For a fault in the output limit itself see GO-205, for echoed words GO-206.

    Usual cause: a validation error that lists the request's fields, or names some that have nothing to do with it.
    """
    _hold_unclassified(check, case, send_faulty(adapter, case))


@endpoint.check(
    "GO-205",
    level=Level.SHOULD,
    source=sources.VLLM_FULL_WINDOW,
    examples=tuple(FaultyRequest(fault, "hello") for fault in Fault if fault in LIMIT_FAULTS),
)
def faulty_limit_is_not_an_overflow(check: Check[Endpoint], adapter: Endpoint, case: FaultyRequest) -> None:
    """A fault in the output limit itself is classified as an overflow by no site, on any route.

    Why: the classifiers take the name of the field, max_tokens, for an overflow. An error that names the field that it
    refuses is a good error, so this is no duty of a server: it is what one in front of these classifiers should do.

    Usual cause: the refusal names the field.
    """
    for route in served_routes(adapter):
        fault = replace(case, route=route)
        if case.fault in faults_of(route):
            _hold_unclassified(check, fault, send_faulty(adapter, fault))


@endpoint.check(
    "GO-206",
    level=Level.SHOULD,
    source=sources.VLLM_ECHO,
    examples=tuple(case for case in EACH_FAULT if case.fault not in LIMIT_FAULTS),
    cases=strategies.suspicious_faults,
)
def echo_is_not_an_overflow(check: Check[Endpoint], adapter: Endpoint, case: FaultyRequest) -> None:
    """No client error is classified as an overflow because it quotes words of the faulty request, on any route.

    Why: the classifiers read the whole body, quotations too. Every server quotes a faulty value somewhere; words in
    places where users put them are GO-213.

    Usual cause: a validation error that holds the value that it refuses.
    """
    for route in served_routes(adapter):
        fault = replace(case, route=route)
        if case.fault in faults_of(route):
            _hold_unclassified(check, fault, send_faulty(adapter, fault))


def _hold_unclassified(check: Check[Endpoint], case: FaultyRequest, answer: Answer) -> None:
    if alarmed := sites_that(answer, classify=True):
        raise check.fail(
            f"a client error ({case.fault}) is classified as an overflow by {alarmed[0]}",
            got=shown(answer),
            want="an error that no site classifies",
            alarmed=alarmed,
            route=case.route.value,
        )


def served_routes(adapter: Endpoint) -> tuple[Route, ...]:
    """The routes that build a prompt and that the adapter declares, the chat route first."""
    optional = {"completions": Route.COMPLETIONS, "responses": Route.RESPONSES}
    return (Route.CHAT, *(route for name, route in optional.items() if name in adapter.capabilities))


@endpoint.check("GO-202", source=sources.NEMO_RL, requires={"internal_fault"}, examples=("boom", "context length"))
def internal_fault_stays_a_500(check: Check[Endpoint], adapter: Endpoint, case: str) -> None:
    """An unrelated ValueError inside the server is answered 500 and classified by no site.

    Why: an endpoint that answers every ValueError as an overflow hides its own crashes as finished rollouts.

    Usual cause: an except clause that catches ValueError without asking what it says.
    """
    for route in served_routes(adapter):
        answer = adapter.internal_fault(case, "POST", route, body_of(adapter, SHORT, route))  # type: ignore[attr-defined]  # offered by adapters that declare the capability
        if answer.status != _SERVER_ERROR or sites_that(answer, classify=True) or MARKER in text_of(answer):
            raise check.fail(
                "an internal fault is not answered as one",
                got=shown(answer),
                want="500 without the marker",
                route=route.value,
            )


@endpoint.check(
    "GO-203",
    source=sources.VLLM_ECHO,
    requires={"completions"},
    examples=each_fault(Route.COMPLETIONS, *_NEUTRAL),
    cases=partial(strategies.neutral_faults, Route.COMPLETIONS),
)
def client_error_on_completions(check: Check[Endpoint], adapter: Endpoint, case: FaultyRequest) -> None:
    """A client error on `/v1/completions` is an error object, no server error, and classified by no site.

    Why: Gym's completions backend has a classifier of its own, which looks for the same words. For faults in the output
    limit see GO-205, for echoes GO-206.

    Usual cause: the route builds its errors itself.
    """
    _hold_plain_error(check, adapter, case)


@endpoint.check(
    "GO-204",
    source=sources.VLLM_ECHO,
    requires={"responses"},
    examples=each_fault(Route.RESPONSES, *_NEUTRAL),
    cases=partial(strategies.neutral_faults, Route.RESPONSES),
)
def client_error_on_responses(check: Check[Endpoint], adapter: Endpoint, case: FaultyRequest) -> None:
    """A client error on `/v1/responses` is an error object, no server error, and classified by no site.

    Why: a client that moves to this route brings the same mistakes with it. See GO-205 and GO-206 too.

    Usual cause: the route was added later, with errors of its own.
    """
    _hold_plain_error(check, adapter, case)


def _hold_plain_error(check: Check[Endpoint], adapter: Endpoint, case: FaultyRequest) -> None:
    answer = send_faulty(adapter, case)
    if answer.status == OK:
        return
    sites = sites_that(answer, classify=True) if case.fault not in LIMIT_FAULTS else []
    wrong = [f"classified as an overflow by {site}" for site in sites]
    if answer.status >= _SERVER_ERROR:
        wrong.append(f"a server error, {answer.status}")
    if not is_error_object(answer):
        wrong.append("no error object")
    if wrong:
        raise check.fail(
            f"a client error ({case.fault}) on {case.route} is {wrong[0]}",
            got=shown(answer),
            want="an error object with a 4xx that no site classifies",
            problems=wrong,
        )
