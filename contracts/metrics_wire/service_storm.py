"""Writers that write to a Jobs service at once until it is killed, and what they may expect of it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_task import Task, is_acknowledged, point, shown
from contracts.metrics_wire.waiting import holds_within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts.check import Check
    from contracts.failure import ContractFailure
    from contracts.metrics_wire.protocols import JobsService, ServiceAnswer

#: Seconds in which a storm must have got its acknowledgements. Wide: a write takes milliseconds.
_STORM_S = 60.0


class _Writer:
    """One writer: it updates a task of its own, and appends to the one that all share if the service can append."""

    def __init__(self, number: int, own: Task, shared: Task, *, appends: bool) -> None:
        self.name = f"train_{number}"
        self.own = own
        self.shared = shared
        self.appends = appends
        self.sent = 0
        self.acknowledged = 0

    def write(self) -> ServiceAnswer:
        """The next write."""
        self.sent += 1
        answer = self.repeat()
        if is_acknowledged(answer):
            self.acknowledged = self.sent
        return answer

    def repeat(self) -> ServiceAnswer:
        """The last write, once more."""
        if self.appends:
            return self.shared.post({self.name: [point(self.sent, self.sent / 2)]})
        points = [point(step, step / 2) for step in range(1, self.sent + 1)]
        return self.own.put({"status": "active", "status_details": {"metrics": {self.name: points}}})

    def values(self, last: int) -> dict[int, float]:
        """What the series holds after the write of that number."""
        return {step: step / 2 for step in range(1, last + 1)}


class Writers:
    """Writers of one service.

    Args:
        check: The check that looks.
        service: The service.
        count: How many there are; where the service can append, every second one appends to a task that they share.
    """

    def __init__(self, check: Check[Any], service: JobsService, count: int) -> None:
        self.check = check
        self.service = service
        shared = Task(check, service)
        shared.write(status="active", status_details={"phase": "training"})
        can_append = "append" in service.capabilities
        self._writers = [
            _Writer(number, Task(check, service), shared, appends=can_append and number % 2 == 1)
            for number in range(count)
        ]

    def ride_out(self, acknowledged: int) -> None:
        """Write at once, kill the service after so many further acknowledgements, and start it again."""
        refused: list[ContractFailure] = []
        before = self._acknowledged
        threads = [threading.Thread(target=self._write_on, args=(each, refused), daemon=True) for each in self._writers]
        for thread in threads:
            thread.start()
        try:
            enough = holds_within(_STORM_S, lambda: bool(refused) or self._acknowledged - before >= acknowledged)
        finally:
            self.service.kill()
            for thread in threads:
                thread.join()
            self.service.restart()
        if refused:
            raise refused[0]
        if not enough:
            raise self.check.fail(
                f"writes are not acknowledged within {_STORM_S:g} s",
                got=self._acknowledged - before,
                want=acknowledged,
            )

    def repeat_unacknowledged(self) -> None:
        """Each writer repeats its last write."""
        for writer in self._writers:
            writer.own.acknowledged(writer.repeat(), "a repeated write was not taken", writer.name)

    def looked_up(self) -> Iterator[tuple[dict[int, Any], dict[int, float], dict[int, float], str]]:
        """Of each series: what is stored, what was acknowledged, what was sent, and its name."""
        for writer in self._writers:
            got = (writer.shared if writer.appends else writer.own).steps(writer.name)
            yield got, writer.values(writer.acknowledged), writer.values(writer.sent), writer.name
            # A write that was carried out without being acknowledged is not missed by the next round.
            writer.sent = writer.acknowledged = max(len(got), writer.acknowledged)

    @property
    def _acknowledged(self) -> int:
        return sum(writer.acknowledged for writer in self._writers)

    def _write_on(self, writer: _Writer, refused: list[ContractFailure]) -> None:
        while True:
            answer = writer.write()
            if not answer.status:
                return
            if not is_acknowledged(answer):
                refused.append(self.check.fail("a write of the storm was not taken", got=shown(answer), want="2xx"))
                return
