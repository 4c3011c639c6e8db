"""Defects of an error's shape, and of the served document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.api_calls import ApiCall, departures
from contracts.gym_overflow.endpoint_mutants.forging import JSON_TYPE, OK, Forged, error, with_status
from contracts.gym_overflow.endpoint_mutants.tampering import Tampering, TamperingWithFaults, TamperingWithRefusals
from contracts.gym_overflow.fault import Fault, FaultyRequest
from contracts.gym_overflow.probe import Route
from contracts.gym_overflow.ruler import model_of
from contracts.gym_overflow.sides import endpoint

if TYPE_CHECKING:
    from contracts.answer import Answer
    from contracts.gym_overflow.protocols import Endpoint

#: A status that documents seldom list by itself.
_TEAPOT = 418
_TEXT = {"content-type": "text/plain"}
_FAULT = FaultyRequest(Fault.MODEL, "hello")
_FORBIDDEN = ApiCall("POST", Route.CHAT.value, content_type="application/json", body="{}", allowed=False)


def _undocumented(endpoint: Endpoint, answer: Answer, path: str = Route.CHAT.value) -> Answer:
    """``answer`` under another status; where the document describes that one too, by a range, in another type."""
    method = "POST" if path == Route.CHAT else "GET"
    other = with_status(answer, _TEAPOT)
    return other if departures(endpoint, ApiCall(method, path), other) else Forged(answer.status, b"no", _TEXT)


@endpoint.mutant("GO-M301a", killed_by="GO-301", witness=_FAULT)
class FailsOnClientErrors(TamperingWithFaults):
    """answers a client's fault with 500"""

    def faulted(self, _path: str, _body: dict[str, Any], _answer: Answer) -> Answer:
        return error(500, "internal error")


@endpoint.mutant("GO-M302a", killed_by="GO-302", witness=_FAULT)
class AnswersWithDetail(TamperingWithFaults):
    """answers a client's fault with the framework's own object instead of an error object"""

    def faulted(self, _path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        return Forged(answer.status, json.dumps({"detail": "bad request"}).encode(), JSON_TYPE)


@endpoint.mutant("GO-M302b", killed_by="GO-302", witness=_FAULT)
class AnswersInHtml(TamperingWithFaults):
    """answers a client's fault with a page of HTML"""

    def faulted(self, _path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        return Forged(answer.status, b"<h1>Bad</h1>", {"content-type": "text/html"})


@endpoint.mutant("GO-M311a", killed_by="GO-311", witness=ApiCall("GET", "/v1/models"))
class AnswersAnUndocumentedStatus(Tampering):
    """lists the models with a status, or a type, that the document does not list"""

    def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        return _undocumented(self, answer, path) if path == "/v1/models" else answer


@endpoint.mutant("GO-M311b", killed_by="GO-311", witness=ApiCall("GET", "/v1/models"))
class AnswersAnotherSchema(Tampering):
    """lists the models as text where the document says a list"""

    def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        return Forged(OK, json.dumps({"object": "list", "data": "none"}).encode()) if path == "/v1/models" else answer


@endpoint.mutant("GO-M311c", killed_by="GO-311", witness=_FORBIDDEN)
class AcceptsEverything(TamperingWithFaults):
    """accepts a body that the document forbids"""

    def faulted(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        if path != Route.CHAT:
            return answer
        plain = {"model": model_of(self), "messages": [{"role": "user", "content": "a"}], "max_tokens": 1}
        forged: Answer = self.inner.request("POST", path, json=plain)
        return forged


@endpoint.mutant("GO-M312a", killed_by="GO-312")
class RefusesUndocumented(TamperingWithRefusals):
    """refuses an overflow with a status, or a type, that the document does not list"""

    def refused(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        return _undocumented(self, answer) if path == Route.CHAT else answer


@endpoint.mutant("GO-M313a", killed_by="GO-313", witness=_FAULT)
class FaultsUndocumented(TamperingWithFaults):
    """answers a client's fault with a status, or a type, that the document does not list"""

    def faulted(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        return _undocumented(self, answer) if path == Route.CHAT else answer
