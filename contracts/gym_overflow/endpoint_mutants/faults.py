"""Defects that swallow somebody else's error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.endpoint_checks.faults import served_routes
from contracts.gym_overflow.endpoint_mutants.forging import OK, REFUSED, Forged, error
from contracts.gym_overflow.endpoint_mutants.tampering import Tampering, TamperingWithFaults
from contracts.gym_overflow.fault import Fault, FaultyRequest, Suspicion
from contracts.gym_overflow.probe import Probe, Route
from contracts.gym_overflow.protocols import EndpointWrapper
from contracts.gym_overflow.ruler import Ruler, window_of
from contracts.gym_overflow.sides import endpoint

if TYPE_CHECKING:
    from contracts.answer import Answer


@endpoint.mutant("GO-M206a", killed_by="GO-206", witness=FaultyRequest(Fault.MODEL, "my context length"))
class EchoesTheRequest(TamperingWithFaults):
    """answers a faulty request with a 400 that quotes it"""

    def faulted(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        return error(400, f"invalid request: {json.dumps(body)}") if body else answer


@endpoint.mutant("GO-M201a", killed_by="GO-201", witness=FaultyRequest(Fault.MODEL, "hello"))
class BlamesMaxTokens(TamperingWithFaults):
    """names max_tokens in the answer to an unrelated fault"""

    def faulted(self, _path: str, _body: dict[str, Any], _answer: Answer) -> Answer:
        return error(400, "check the model, the messages and max_tokens")


@endpoint.mutant("GO-M202a", killed_by="GO-202")
class TakesEveryValueErrorForAnOverflow(EndpointWrapper):
    """answers every ValueError inside the server as an overflow"""

    def internal_fault(self, message: str, method: str, path: str, json: Any) -> Answer:
        self.inner.internal_fault(message, method, path, json)
        return REFUSED


@endpoint.mutant("GO-M202b", killed_by="GO-202")
class HidesTheFaultOfOneRoute(TakesEveryValueErrorForAnOverflow):
    """answers a ValueError on every route but the chat route as an overflow"""

    def internal_fault(self, message: str, method: str, path: str, json: Any) -> Answer:
        if path == Route.CHAT:
            plain: Answer = self.inner.internal_fault(message, method, path, json)
            return plain
        return super().internal_fault(message, method, path, json)


def _at(route: Route, forged: Forged, how: str) -> type[TamperingWithFaults]:
    class AtOneRoute(TamperingWithFaults):
        def faulted(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
            return forged if path == route else answer

    AtOneRoute.__doc__ = f"answers a faulty request to {route} {how}"
    return AtOneRoute


for _check, _route in (("GO-203", Route.COMPLETIONS), ("GO-204", Route.RESPONSES)):
    _fault = FaultyRequest(Fault.MODEL, "hello", None, _route)
    for _letter, _forged, _how in (
        ("a", error(400, "check max_tokens"), "with a message that names max_tokens"),
        ("b", error(500, "internal error"), "with a server error"),
        ("c", Forged(400, b'{"detail":"bad request"}'), "with the framework's own object"),
    ):
        endpoint.mutant(f"GO-M{_check[3:]}{_letter}", killed_by=_check, witness=_fault)(_at(_route, _forged, _how))


@endpoint.mutant("GO-M205a", killed_by="GO-205", witness=FaultyRequest(Fault.MAX_TOKENS_ZERO, "hello"))
class NamesTheLimit(Tampering):
    """names max_tokens where that is the field at fault"""

    def tampered(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        return error(400, "max_tokens must be at least 1") if body.get("max_tokens") == 0 else answer


@endpoint.mutant("GO-M205b", killed_by="GO-205", witness=FaultyRequest(Fault.MAX_TOKENS_ZERO, "hello"))
class NamesTheLimitElsewhere(Tampering):
    """names max_tokens where that is the field at fault, on the last of the served routes"""

    def tampered(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        # Of an endpoint with the chat route alone that is the chat route.
        zero = path == served_routes(self)[-1] and 0 in (body.get("max_tokens"), body.get("max_output_tokens"))
        return error(400, "max_tokens must be at least 1") if zero else answer


@endpoint.mutant("GO-M211a", killed_by="GO-211", witness=FaultyRequest(Fault.MODEL, "hello", 4))
class EchoesTheFields(TamperingWithFaults):
    """answers a faulty request with a 400 that lists the fields it had"""

    def faulted(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        return error(400, f"fields: {sorted(body)}") if body else answer


@endpoint.mutant("GO-M212a", killed_by="GO-212", witness=Probe(-1, 3))
class AddsUpPromptAndLimit(Tampering):
    """holds prompt and output limit together against the window"""

    def tampered(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        if answer.status != OK or path != Route.CHAT or not isinstance(body.get("max_tokens"), int):
            return answer
        count = Ruler.of(self).count(path, body) or 0
        return REFUSED if count + body["max_tokens"] > window_of(self) else answer


@endpoint.mutant("GO-M213a", killed_by="GO-213", witness=Suspicion("user text", "context length"))
class ReadsTheUsersWords(Tampering):
    """refuses a request that mentions a context length"""

    def tampered(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        return REFUSED if "context length" in json.dumps(body) else answer
