"""Defects of the clamp."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.endpoint_mutants.forging import JSON_TYPE, OK, Forged, Tampering
from contracts.gym_overflow.probe import LIMIT_FIELD, Route, send
from contracts.gym_overflow.ruler import window_of
from contracts.gym_overflow.sides import endpoint
from contracts.gym_overflow.window_probes import ONE_OVER

if TYPE_CHECKING:
    from contracts.gym_overflow.protocols import Answer

_FIELDS = {
    "GO-121": (Route.CHAT, LIMIT_FIELD[Route.CHAT]),
    "GO-122": (Route.CHAT, "max_completion_tokens"),
    "GO-123": (Route.COMPLETIONS, LIMIT_FIELD[Route.COMPLETIONS]),
    "GO-124": (Route.RESPONSES, LIMIT_FIELD[Route.RESPONSES]),
}


def _generated(answer: Answer) -> int | None:
    if answer.status != OK:
        return None
    usage = json.loads(answer.body).get("usage") or {}
    count: int | None = usage.get("completion_tokens", usage.get("output_tokens"))
    return count


def _without_clamp(route: Route, field: str) -> type[Tampering]:
    class WithoutClamp(Tampering):
        def tampered(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
            generated = _generated(answer)
            if path == route and field in body and generated is not None and generated < body[field]:
                return send(self.inner, ONE_OVER, route)
            return answer

    WithoutClamp.__doc__ = f"refuses {field} above what the window leaves on {route}"
    return WithoutClamp


for _check, (_route, _field) in _FIELDS.items():
    endpoint.mutant(f"GO-M{_check[3:]}a", killed_by=_check)(_without_clamp(_route, _field))


@endpoint.mutant("GO-M121b", killed_by="GO-121")
class SaysStop(Tampering):
    """ends a clamped generation with finish_reason "stop" """

    def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        if path != Route.CHAT or answer.status != OK:
            return answer
        document = json.loads(answer.body)
        for choice in document["choices"]:
            choice["finish_reason"] = "stop"
        return Forged(OK, json.dumps(document).encode(), JSON_TYPE)


@endpoint.mutant("GO-M121c", killed_by="GO-121")
class RunsOverTheWindow(Tampering):
    """generates past the end of the window"""

    def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        if path != Route.CHAT or answer.status != OK:
            return answer
        document = json.loads(answer.body)
        document["usage"]["completion_tokens"] += window_of(self)
        return Forged(OK, json.dumps(document).encode(), JSON_TYPE)
