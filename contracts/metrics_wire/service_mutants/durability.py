"""Defects of durability."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_mutants.tampering import Forged, Message, Tampering, edited, with_series
from contracts.metrics_wire.service_task import is_acknowledged
from contracts.metrics_wire.sides import service

if TYPE_CHECKING:
    from contracts.metrics_wire.protocols import ServiceAnswer


@service.mutant("MW-M901a", killed_by="MW-901")
class AcknowledgesBeforeItStores(Tampering):
    """acknowledges the last write of a task before it is stored"""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._held: dict[str, Message] = {}
        self._lock = threading.Lock()

    def kill(self) -> None:
        self._held.clear()
        self.inner.kill()

    def restart(self) -> None:
        self._held.clear()
        self.inner.restart()

    def tamper(self, message: Message) -> ServiceAnswer:
        with self._lock:
            held = self._held.pop(message.task, None)
            stored = self.send(held) if held is not None else None
            if not (message.is_update or message.is_append):
                return self.send(message)
            if stored is not None and not is_acknowledged(stored):
                return stored
            self._held[message.task] = message
            return Forged(200)


@service.mutant("MW-M901b", killed_by="MW-901")
class InventsAPoint(Tampering):
    """after a restart each series has a point that nobody sent"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        if not self.restarts:
            return answer
        return with_series(answer, lambda _, points: [*points, {"step": 10**6, "epoch": 1, "value": 0}])


@service.mutant("MW-M902a", killed_by="MW-902")
class ForgetsTheError(Tampering):
    """a task's error is gone after a restart"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        return edited(answer, lambda task: task.update(error_stack=None)) if self.restarts else answer


@service.mutant("MW-M902b", killed_by="MW-902")
class RoundsAfterARestart(Tampering):
    """numbers of the series are floats after a restart, whatever they were"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        if not self.restarts:
            return answer
        return with_series(answer, lambda _, points: [{**each, "value": float(each["value"])} for each in points])


class StoresRepeatedWritesAgain(Tampering):
    """Shows the last point of each series twice once a write of the task was repeated."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._seen: set[tuple[str, bytes | None]] = set()
        self._repeated: set[str] = set()

    def tamper(self, message: Message) -> ServiceAnswer:
        if message.is_read:
            again = message.path in self._repeated
            return with_series(self.send(message), lambda _, points: [*points, *points[-1:]] if again else points)
        if (message.path, message.body) in self._seen:
            self._repeated.add(message.task)
        self._seen.add((message.path, message.body))
        return self.send(message)


@service.mutant("MW-M903a", killed_by="MW-903")
class StoresWhatIsRepeatedAgain(StoresRepeatedWritesAgain):
    """stores the points of a write that is repeated once more"""
