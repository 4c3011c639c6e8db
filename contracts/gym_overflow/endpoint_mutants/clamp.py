"""Defects of the clamp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.endpoint_mutants.forging import REFUSED, document_of, edited
from contracts.gym_overflow.endpoint_mutants.tampering import Tampering
from contracts.gym_overflow.probe import LIMIT_FIELD, Route
from contracts.gym_overflow.ruler import window_of
from contracts.gym_overflow.sides import endpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.answer import Answer

_FIELDS = {
    "GO-121": (Route.CHAT, LIMIT_FIELD[Route.CHAT]),
    "GO-122": (Route.CHAT, "max_completion_tokens"),
    "GO-123": (Route.COMPLETIONS, LIMIT_FIELD[Route.COMPLETIONS]),
    "GO-124": (Route.RESPONSES, LIMIT_FIELD[Route.RESPONSES]),
}


def _generated(answer: Answer) -> int | None:
    usage = document_of(answer).get("usage") or {}
    count: int | None = usage.get("completion_tokens", usage.get("output_tokens"))
    return count


def _without_clamp(route: Route, field: str) -> type[Tampering]:
    class WithoutClamp(Tampering):
        def tampered(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
            generated = _generated(answer)
            if path == route and field in body and generated is not None and generated < body[field]:
                return REFUSED
            return answer

    WithoutClamp.__doc__ = f"refuses {field} above what the window leaves on {route}"
    return WithoutClamp


for _check, (_route, _field) in _FIELDS.items():
    endpoint.mutant(f"GO-M{_check[3:]}a", killed_by=_check)(_without_clamp(_route, _field))


@endpoint.mutant("GO-M121b", killed_by="GO-121")
class SaysTheOtherReason(Tampering):
    """ends a clamped generation with finish_reason "stop", and one that ended by itself with "length" """

    def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        def edit(document: dict[str, Any]) -> None:
            for choice in document["choices"]:
                choice["finish_reason"] = "stop" if choice["finish_reason"] == "length" else "length"

        return edited(answer, edit) if path == Route.CHAT else answer


def _generating(defect: str, more: Callable[[Any], int]) -> type[Tampering]:
    class Generating(Tampering):
        def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
            def edit(document: dict[str, Any]) -> None:
                document["usage"]["completion_tokens"] += more(self)
                for choice in document["choices"]:
                    choice["finish_reason"] = "length"

            return edited(answer, edit) if path == Route.CHAT else answer

    Generating.__doc__ = defect
    return Generating


endpoint.mutant("GO-M121c", killed_by="GO-121")(_generating("generates past the end of the window", window_of))
endpoint.mutant("GO-M121d", killed_by="GO-121")(
    _generating("clamps the output to one token fewer than the window leaves", lambda _: -1)
)
