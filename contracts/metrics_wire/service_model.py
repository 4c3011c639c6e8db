"""What a Jobs service must have stored after the writes that it acknowledged: the rule, written down once."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.metrics_wire.protocols import JobsService

_Series = dict[str, list[dict[str, Any]]]


class StoredTask:
    """One task, by the rule that the service declares.

    Args:
        service: The service.

    Attributes:
        appends: Whether points can be appended.
        fields: The fields that were ever written, as a reader must see them.
    """

    def __init__(self, service: JobsService) -> None:
        self.appends = "append" in service.capabilities
        self._replaces = service.update_rule == "replace"
        self._keeps_appended = service.keeps_appended or not self._replaces
        self._sent: dict[str, Any] = {}
        self._appended: _Series = {}
        self._fields: dict[str, Any] = {}

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields that were ever written, as a reader must see them."""
        details = copy.deepcopy(self._sent)
        if self._appended:
            metrics = details.setdefault("metrics", {})
            for name, points in self._appended.items():
                metrics[name] = upserted(metrics.get(name, []), points)
        known = "status_details" in self._fields or details
        return self._fields | ({"status_details": details} if known else {})

    def update(self, body: dict[str, Any]) -> None:
        """An update was acknowledged."""
        self._fields |= {field: value for field, value in body.items() if field != "status_details"}
        if "status_details" not in body:
            return
        sent = body["status_details"]
        self._fields["status_details"] = True
        if "metrics" in sent or not self._keeps_appended:
            self._appended = {}
        self._sent = dict(sent) if self._replaces else self._sent | sent

    def append(self, metrics: _Series) -> None:
        """An append was acknowledged."""
        for name, points in metrics.items():
            self._appended[name] = upserted(self._appended.get(name, []), points)


def upserted(series: list[dict[str, Any]], points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The series with the points in it: one a step, the last one wins, ascending."""
    by_step = {each["step"]: each for each in (*series, *points)}
    return [by_step[step] for step in sorted(by_step)]
