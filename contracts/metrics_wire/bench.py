"""A test bench: one task at one probe service, the processes that train it, and what is stored of it."""

from __future__ import annotations

import contextlib
import logging
import uuid
from typing import TYPE_CHECKING, Any, Self

from contracts.failure import ContractFailure
from contracts.metrics_wire.probe.server import ProbeServer
from contracts.metrics_wire.services import Service, probe_of
from contracts.metrics_wire.waiting import holds_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter, Schedule

#: Seconds for which a report is waited for that a logger owes without being closed. Wide: CI machines are slow.
SETTLE_S = 5.0

_QUIET = logging.NullHandler()


class Bench:
    """Starts processes of the adapter's logger against one task, and reads what is stored.

    Args:
        adapter: The implementation.
        service: The kind of service.
        max_body: Bytes beyond which the service answers 413.

    Attributes:
        probe: The service.
        adapter: The implementation.
        has_service: Whether it reports to the service; otherwise what is stored is read from its own store, and the
            service is there only to see that nothing comes.
    """

    def __init__(self, adapter: LoggerAdapter, service: Service, *, max_body: int | None = None) -> None:
        self.adapter = adapter
        self.has_service = "reports_to_service" in adapter.capabilities
        if not self.has_service and not hasattr(adapter, "stored"):
            raise TypeError(
                f"{adapter.name} has no `stored`: declare `reports_to_service`, or say how its store is read"
            )
        # A service is new in each bench; a store of one's own is as new as the name of its task.
        self._job = "job-1" if self.has_service else f"job-{uuid.uuid4().hex}"
        self.probe = probe_of(service, max_body=max_body)
        self._processes: dict[int, tuple[Any, ProbeServer | None]] = {}

    def __enter__(self) -> Self:
        # What a logger has to say about a faulty service is looked at where a check asks for it, not printed.
        logging.getLogger().addHandler(_QUIET)
        self.probe.come_back()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.probe.faults.clear()
        self.probe.come_back()
        try:
            for logger, _ in self._processes.values():
                # While a finding is on its way, a logger that cannot even be closed is no news.
                with contextlib.suppress(Exception) if error is not None else contextlib.nullcontext():
                    logger.close()
        finally:
            for _, door in self._processes.values():
                if door is not None:
                    door.stop()
            self.probe.die()
            logging.getLogger().removeHandler(_QUIET)

    def process(
        self,
        schedule: Schedule,
        *,
        rank: int = 0,
        algorithm: str = "grpo",
        job: str | None = None,
        at_the_front: bool = False,
    ) -> Any:
        """The logger of a new process that trains the task, closed at the end of the block at the latest.

        Args:
            schedule: The run's configuration.
            rank: Rank of the process.
            algorithm: ``grpo`` or ``dpo``.
            job: Id of the job; the bench's own by default.
            at_the_front: Whether it comes through the service's own port, so that it sees the service die; otherwise
                through one of its own, so that it can be killed.
        """
        door = None if at_the_front or not self.has_service else ProbeServer(0, self.probe)
        task_url = self.probe.task_url(job=job or self._job, base_url=door.base_url if door else None)
        logger = self.adapter.start(task_url, schedule.fields, rank=rank, algorithm=algorithm)
        self._processes[id(logger)] = logger, door
        return logger

    def kill(self, logger: Any) -> None:
        """End a process as SIGKILL does: nothing of it reaches the service any more."""
        _, door = self._processes.pop(id(logger))
        if door is None:
            raise ValueError("a process that comes through the front cannot be killed: the service would die")
        door.cut()
        logger.close()
        door.stop()

    @property
    def task_url(self) -> str:
        """URL of the task at the service's own port."""
        return self.probe.task_url(job=self._job)

    @property
    def status(self) -> str | None:
        """The stored status."""
        return (self.probe.stored() or {}).get("status")

    @property
    def details(self) -> dict[str, Any]:
        """The stored ``status_details`` without the series."""
        details = (self.probe.stored() or {}).get("status_details") or {}
        return {name: value for name, value in details.items() if name != "metrics"}

    @property
    def series(self) -> dict[str, list[dict[str, Any]]]:
        """The stored series, as the chart reads them; in a logger's own store no point has an epoch."""
        if not self.has_service:
            own = self.adapter.stored(self.task_url)
            return {name: [{"epoch": None, **point} for point in points] for name, points in own.items()}
        metrics = ((self.probe.stored() or {}).get("status_details") or {}).get("metrics")
        return metrics if isinstance(metrics, dict) else {}

    def values(self, name: str) -> dict[int, Any]:
        """The stored values of a series by step. A step that is there twice shows the list of its values."""
        values: dict[int, Any] = {}
        for step, _, value in self._points(name):
            values[step] = [values[step], value] if step in values else value
        return values

    def last_values(self, name: str) -> dict[int, Any]:
        """The same, but of a step that is there twice its last value: what a chart shows that is keyed by step."""
        return {step: value for step, _, value in self._points(name)}

    def epochs(self, name: str) -> dict[int, int]:
        """The stored epochs of a series by step."""
        return {step: epoch for step, epoch, _ in self._points(name)}

    def _points(self, name: str) -> list[tuple[int, int, Any]]:
        """The points of a series; what another writer has left among them is passed over."""
        points: Any = self.series.get(name)
        return [
            (point["step"], point["epoch"], point["value"])
            for point in (points if isinstance(points, list) else ())
            if isinstance(point, dict) and point.keys() >= {"step", "epoch", "value"}
        ]

    @property
    def vanished(self) -> list[str]:
        """Every point that some request made vanish, with what the request was."""
        return [f"{point} by {each.method} {each.body[:120]!r}" for each in self.probe.requests for point in each.lost]

    def has(self, name: str, step: int, seconds: float = SETTLE_S) -> bool:
        """Whether a series comes to have a point at ``step`` without anything being closed."""
        return self.settles(lambda: step in self.values(name), seconds)

    def settles(self, condition: Callable[[], bool], seconds: float = SETTLE_S) -> bool:
        """Whether ``condition`` comes to hold without anything being closed."""
        return holds_within(seconds, condition)


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextlib.contextmanager
def nothing_raised(check: Check[LoggerAdapter], **facts: object) -> Iterator[None]:
    """Hold what the loop calls in the block to raising nothing."""
    try:
        yield
    except ContractFailure:
        raise
    except Exception as error:
        raise check.fail("a call raised into the loop", got=repr(error), want="no exception", **facts) from error


@contextlib.contextmanager
def logged_warnings() -> Iterator[list[str]]:
    """What is logged in the block with at least the level of a warning, by any logger that propagates."""
    handler = _Records()
    logging.getLogger().addHandler(handler)
    try:
        yield handler.messages
    finally:
        logging.getLogger().removeHandler(handler)
