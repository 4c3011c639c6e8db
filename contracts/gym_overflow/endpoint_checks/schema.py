"""31x: the served document and the server say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from contracts.gym_overflow import sources
from contracts.gym_overflow.api_calls import ApiCall, call, departures, drawn_calls
from contracts.gym_overflow.endpoint_checks.faults import EACH_FAULT
from contracts.gym_overflow.fault import FaultyRequest, send_faulty
from contracts.gym_overflow.judging import shown
from contracts.gym_overflow.probe import Probe, Route, send
from contracts.gym_overflow.sides import endpoint
from contracts.gym_overflow.window_probes import FULL, ONE_OVER, ROOM_FOR_ONE
from contracts.level import Level

if TYPE_CHECKING:
    from contracts.answer import Answer
    from contracts.check import Check
    from contracts.gym_overflow.protocols import Endpoint

_CHAT = ApiCall("POST", Route.CHAT.value)
_REFUSED = range(400, 500)


@endpoint.check(
    "GO-311",
    level=Level.SHOULD,
    source=sources.OPENAPI,
    requires={"openapi"},
    examples=(
        ApiCall("GET", "/v1/models"),
        ApiCall("POST", Route.CHAT.value, (), "application/json", "{}", allowed=False),
    ),
    cases_for=drawn_calls,
)
def document_and_server_agree(check: Check[Endpoint], adapter: Endpoint, case: ApiCall) -> None:
    """Every request that the served document allows is answered as it says, and one that it forbids is refused.

    Why: an answer outside the document is one that no client was written for; a lax field is a fault that travels on.

    Usual cause: models that coerce types, and error answers that the framework adds without documenting them.
    """
    try:
        answer = call(adapter, case)
    except httpx.RemoteProtocolError as error:
        raise check.fail("the server broke off its answer", got=repr(error), want="a whole answer") from error
    _hold_conforming(check, adapter, case, answer)
    if not case.allowed and answer.status not in _REFUSED:
        raise check.fail("a request that the document forbids was accepted", got=shown(answer), want="a 4xx")


@endpoint.check("GO-312", source=sources.OPENAPI, requires={"openapi"}, examples=(FULL, ONE_OVER, ROOM_FOR_ONE))
def window_answers_are_documented(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """The answers around the window, refusals included, are those that the served document describes.

    Why: the refusal of an overflow is the answer that clients must be able to rely on most.

    Usual cause: the error is raised past the framework, so it is not in the document.
    """
    _hold_conforming(check, adapter, _CHAT, send(adapter, case))


@endpoint.check("GO-313", level=Level.SHOULD, source=sources.OPENAPI, requires={"openapi"}, examples=EACH_FAULT)
def client_errors_are_documented(check: Check[Endpoint], adapter: Endpoint, case: FaultyRequest) -> None:
    """The answers to faulty requests are those that the served document describes.

    Why: as for every other answer, and here frameworks add their own most often.

    Usual cause: a body that cannot be parsed is answered before the application's error handler runs.
    """
    _hold_conforming(check, adapter, _CHAT, send_faulty(adapter, case))


def _hold_conforming(check: Check[Endpoint], adapter: Endpoint, case: ApiCall, answer: Answer) -> None:
    if found := departures(adapter, case, answer):
        raise check.fail(
            f"{case.method} {case.path} is not answered as documented: {found[0]}",
            got=shown(answer),
            want="an answer that the served document describes",
            departures=found,
        )
