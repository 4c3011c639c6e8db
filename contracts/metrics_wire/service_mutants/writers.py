"""Defects that show when two write one task."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_cases import Race
from contracts.metrics_wire.service_model import upserted
from contracts.metrics_wire.service_mutants.tampering import FAILED, Meeting, Message, Tampering
from contracts.metrics_wire.service_task import FIELDS
from contracts.metrics_wire.sides import service

if TYPE_CHECKING:
    from contracts.metrics_wire.protocols import ServiceAnswer

#: Seconds for which a write that is half done waits for a reader, and a reader for such a write.
_HALFWAY_S = 5.0


@service.mutant("MW-M921a", killed_by="MW-921")
class WritesBackWhatItOnceRead(Tampering):
    """each update writes back the rest of the row as it was when the task was new"""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._rows: dict[str, dict[str, Any]] = {}

    def tamper(self, message: Message) -> ServiceAnswer:
        if not message.is_update:
            return self.send(message)
        answer = self.send(message.with_json({**self._rows.get(message.task, {}), **message.json}))
        self._rows.setdefault(message.task, message.json)
        return answer


@service.mutant("MW-M921b", killed_by="MW-921")
class DropsTheSeriesWithThePhase(Tampering):
    """an update without series drops those that are stored"""

    def tamper(self, message: Message) -> ServiceAnswer:
        body = message.json
        if message.is_update and "status_details" in body:
            return self.send(message.with_json({**body, "status_details": {"metrics": {}, **body["status_details"]}}))
        return self.send(message)


class _WithMeeting(Tampering):
    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.meeting = Meeting()


class _WritesBackTheRow(_WithMeeting):
    def tamper(self, message: Message) -> ServiceAnswer:
        task = self.read(message) if message.is_update else {}
        if not task:
            return self.send(message)
        row = {field: task[field] for field in FIELDS if task.get(field) is not None}
        self.meeting.wait()
        body = message.json
        if "status_details" in body and self.update_rule == "merge":
            body["status_details"] = row.get("status_details", {}) | body["status_details"]
        return self.send(message.with_json({**row, **body}))


@service.mutant("MW-M922a", killed_by="MW-922")
class LastWriterWinsOnTheBlob(_WritesBackTheRow):
    """reads the row, changes it and writes it back whole, so that the last of two writers wins"""


@service.mutant("MW-M926a", killed_by="MW-926")
class MixesTwoWriters(_WritesBackTheRow):
    """reads the row, changes it and writes it back whole, with what another writer has replaced meanwhile"""


@service.mutant("MW-M923a", killed_by="MW-923", witness=Race(2, 3))
class LengthensTheBlob(_WithMeeting):
    """appends by reading the series, lengthening them and writing them back"""

    def tamper(self, message: Message) -> ServiceAnswer:
        if not message.is_append:
            return self.send(message)
        details = self.read(message).get("status_details", {})
        self.meeting.wait()
        metrics = dict(details.get("metrics", {}))
        for name, points in message.series.items():
            metrics[name] = upserted(metrics.get(name, []), points)
        return self.write(message, {"status_details": details | {"metrics": metrics}})


@service.mutant("MW-M924a", killed_by="MW-924")
class InsertsTwice(_WithMeeting):
    """answers 500 where two writers find no task and both make one"""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._made: set[str] = set()
        self._lock = threading.Lock()

    def tamper(self, message: Message) -> ServiceAnswer:
        if not message.is_update or self.read(message):
            return self.send(message)
        self.meeting.wait()
        with self._lock:
            if message.task in self._made:
                return FAILED
            self._made.add(message.task)
            return self.send(message)


@service.mutant("MW-M925a", killed_by="MW-925")
class WritesInTwoSteps(Tampering):
    """writes the error of an update before the rest of it, and lets readers in between"""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._half_written, self._seen = threading.Event(), threading.Event()

    def tamper(self, message: Message) -> ServiceAnswer:
        if message.is_update and not self.read(message):
            return self.send(message)
        if message.is_update:
            body = message.json
            self.write(message, {field: body.pop(field) for field in ("error_details", "error_stack") if field in body})
            self._half_written.set()
            self._seen.wait(_HALFWAY_S)
            answer = self.send(message.with_json(body))
            self._half_written.clear()
            self._seen.clear()
            return answer
        self._half_written.wait(_HALFWAY_S)
        answer = self.send(message)
        self._seen.set()
        return answer
