"""Defects of appends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_checks.appending import ANEW
from contracts.metrics_wire.service_model import upserted
from contracts.metrics_wire.service_mutants.durability import StoresRepeatedWritesAgain
from contracts.metrics_wire.service_mutants.tampering import Message, Tampering, edited, with_series
from contracts.metrics_wire.service_task import is_acknowledged
from contracts.metrics_wire.sides import service

if TYPE_CHECKING:
    from contracts.metrics_wire.protocols import ServiceAnswer


class _Remembering(Tampering):
    """Remembers what was appended to each task."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.appended: dict[str, dict[str, list[dict[str, Any]]]] = {}

    def remember(self, message: Message) -> None:
        """Remember the points of an append."""
        known = self.appended.setdefault(message.task, {})
        for name, points in message.series.items():
            known[name] = upserted(known.get(name, []), points)

    def tamper(self, message: Message) -> ServiceAnswer:
        if message.is_append:
            self.remember(message)
        return self.send(message)


@service.mutant("MW-M931a", killed_by="MW-931")
class ShowsTheLatestFirst(Tampering):
    """shows the points of a series in descending order"""

    def tamper(self, message: Message) -> ServiceAnswer:
        return with_series(self.send(message), lambda _, points: points[::-1])


@service.mutant("MW-M931b", killed_by="MW-931", witness=ANEW)
class KeepsTheFirstValue(_Remembering):
    """keeps the first value of a step"""

    def tamper(self, message: Message) -> ServiceAnswer:
        known = self.appended.get(message.task, {})
        steps = {name: {each["step"] for each in points} for name, points in known.items()}
        if message.is_append:
            self.remember(message)
        return self.send(
            message.with_series(
                lambda series: {
                    name: [each for each in points if each["step"] not in steps.get(name, ())]
                    for name, points in series.items()
                }
            )
        )


@service.mutant("MW-M931c", killed_by="MW-931", witness=ANEW)
class KeepsTheFirstEpoch(_Remembering):
    """replaces the value of a point and leaves its epoch"""

    def tamper(self, message: Message) -> ServiceAnswer:
        known = {
            (name, each["step"]): each["epoch"]
            for name, points in self.appended.get(message.task, {}).items()
            for each in points
        }
        if message.is_append:
            self.remember(message)
        return self.send(
            message.with_series(
                lambda series: {
                    name: [{**each, "epoch": known.get((name, each["step"]), each["epoch"])} for each in points]
                    for name, points in series.items()
                }
            )
        )


@service.mutant("MW-M932a", killed_by="MW-932")
class AppendsDuplicates(StoresRepeatedWritesAgain):
    """adds the points of an append that is repeated once more"""


@service.mutant("MW-M933a", killed_by="MW-933")
class KeepsAppendedApart(Tampering):
    """shows appended points in a series of their own"""

    def tamper(self, message: Message) -> ServiceAnswer:
        if message.is_append:
            return self.send(
                message.with_series(lambda series: {f"{name}/appended": points for name, points in series.items()})
            )
        return self.send(message)


@service.control("MW-C933a", tolerated_by="MW-933")
class ShowsWhatChartsLookFor(Tampering):
    """shows the two series that every chart looks for, empty where nobody has written them"""

    def tamper(self, message: Message) -> ServiceAnswer:
        def show(task: dict[str, Any]) -> None:
            details = task["status_details"]
            details["metrics"] = {"train_loss": [], "val_loss": []} | details.get("metrics", {})

        answer = self.send(message)
        return edited(answer, show) if message.is_read else answer


@service.mutant("MW-M934a", killed_by="MW-934")
class AppendsThroughAnUpdate(Tampering):
    """an append makes the task pending"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        if message.is_append:
            self.write(message, {"status": "pending"})
        return answer


@service.mutant("MW-M935a", killed_by="MW-935")
class TreatsAppendedOtherwise(_Remembering):
    """an update without series does the opposite of what is declared to the appended points"""

    def tamper(self, message: Message) -> ServiceAnswer:
        details = message.json.get("status_details") if message.is_update else None
        if details is None or "metrics" in details:
            return super().tamper(message)
        if self.keeps_appended or self.update_rule == "merge":
            return self.send(message.with_json({**message.json, "status_details": {**details, "metrics": {}}}))
        answer = self.send(message)
        self.append(message, self.appended.get(message.task, {}))
        return answer


@service.mutant("MW-M935b", killed_by="MW-935")
class LetsAppendedWin(_Remembering):
    """points that were once appended come back into the series that an update sends"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = super().tamper(message)
        if message.is_update and message.series and is_acknowledged(answer):
            self.append(message, self.appended.get(message.task, {}))
        return answer
