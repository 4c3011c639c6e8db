"""What an adapter must offer to be held to the contract of a logger, and to that of a Jobs service."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from contracts.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Schedule:
    """What the configuration of a run says.

    Attributes:
        max_steps: Planned train steps, counted from 1; 0 or less without a planned end.
        num_epochs: Planned epochs; ``None`` where the loop knows none.
        val_period: Train steps between two validation passes, 0 for none. A report of a train step is due every
            ``val_period // 10`` steps, at least every step.
        steps_per_epoch: Train steps of one epoch; ``None`` where the configuration does not state it.
    """

    max_steps: int = 0
    num_epochs: int | None = 1
    val_period: int = 0
    steps_per_epoch: int | None = None

    @property
    def fields(self) -> dict[str, int | None]:
        """The four numbers by name."""
        return asdict(self)


class TrainingLogger(Protocol):
    """A logger as NeMo-RL's composite logger calls it, in one process, and the driver that ends it."""

    def log_metrics(
        self,
        metrics: dict[Any, Any],
        step: Any,
        prefix: str = "",
        step_metric: str | None = None,
        step_finished: bool = False,  # noqa: FBT001, FBT002 - NeMo-RL's interface
    ) -> None:
        """Take the metrics of a step."""

    def log_hyperparams(self, params: dict[str, Any]) -> None:
        """Take the configuration of the run."""

    def log_histogram(self, histogram: Any, step: Any, name: str) -> None:
        """Take a histogram."""

    def log_plot(self, figure: Any, step: Any, name: str) -> None:
        """Take a figure."""

    def finish(self) -> None:
        """End it, as the composite logger does."""

    def close(self) -> None:
        """End it, as a driver does."""


class EventLogger(TrainingLogger, Protocol):
    """A logger that also takes what no NeMo-RL loop logs (capability ``events``)."""

    def training_start(self) -> None:
        """Training starts."""

    def epoch_end(self, step: int) -> None:
        """An epoch ended with ``step``."""

    def checkpoint_saved(self, step: int, path: str | None) -> None:
        """A checkpoint was saved."""


class CompositeLogger(Protocol):
    """What a driver sees of NeMo-RL's logger.

    Attributes:
        loggers: Its backends.
    """

    loggers: list[Any]


class Runner(Protocol):
    """What the process around a driver reports with (capability ``runner``)."""

    def report_running(self, phase: str) -> object:
        """The task is active."""

    def report_completed(self, message: str) -> object:
        """The task is completed."""

    def report_error(self, message: str) -> object:
        """The task failed."""

    def close(self) -> object:
        """Nothing more is reported."""


class LoggerAdapter(Protocol):
    """An implementation of the logger's side.

    Attributes:
        name: Name of the implementation.
        version: Its version.
        capabilities: What it declares, of `contracts.metrics_wire.sides.CAPABILITIES`.
        close_deadline_s: Seconds within which ``close`` returns, whatever the service does.
        placeholder_job: A job id that stands for none: such a run reports nothing.
        driver_sources: Python files that hold the drivers (capability ``driver``).
    """

    name: str
    version: str
    capabilities: frozenset[str]
    close_deadline_s: float
    placeholder_job: str
    driver_sources: Sequence[Path]

    def start(
        self, task_url: str, schedule: Mapping[str, int | None], *, rank: int = 0, algorithm: str = "grpo"
    ) -> Any:
        """The logger of a new process that trains the task at ``task_url``: a `TrainingLogger`, or an `EventLogger`.

        Args:
            task_url: URL of the task at the Jobs service.
            schedule: The fields of a `Schedule`.
            rank: Rank of the process.
            algorithm: ``grpo`` or ``dpo``.
        """

    def stored(self, task_url: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The series of a task in the logger's own store (where ``reports_to_service`` is not declared).

        They are read as the backend's own users read them, also while a process still logs. Only their names are
        translated, as ``train/loss`` to ``train_loss``.

        Args:
            task_url: What every process of the task was started with.

        Returns:
            Points ``{"step", "value"}`` by the chart's name of the series, in the order in which the store has them.
        """

    def drive(self, algorithm: str, train: Callable[[], object], composite: CompositeLogger, logger: Any) -> object:
        """Run ``train`` as the driver of the algorithm does: attach ``logger``, train, close it (``driver``)."""

    def runner(self, task_url: str) -> Runner:
        """What another process reports the same task with (capability ``runner``)."""

    def driver_command(
        self,
        task_url: str,
        schedule: Mapping[str, int | None],
        calls: list[dict[str, Any]],
        folder: Path,
        *,
        algorithm: str = "grpo",
    ) -> list[str]:
        """Command line of a driver process that carries out ``calls`` one after the other (capability ``driver``).

        It prints the number of each call, from 1, on a line of its own once the call was carried out. A call is
        ``{"call": "log_metrics", "metrics", "step", "prefix"}``; the last one is ``{"call": ...}`` with ``return``,
        ``raise`` (an exception), ``exit`` (`SystemExit`), or ``wait`` (until a signal comes).

        Args:
            task_url: URL of the task.
            schedule: The fields of a `Schedule`.
            calls: What the loop does.
            folder: An empty folder for files that the process needs.
            algorithm: ``grpo`` or ``dpo``.
        """


class ServiceAnswer(Answer, Protocol):
    """What a Jobs service answered; ``status`` is 0 where the connection failed, or ended without an answer."""


class JobsService(Protocol):
    """A Jobs service. `contracts.metrics_wire.url_service.UrlService` is one at a base URL.

    Attributes:
        name: Name in reports.
        version: Version in reports.
        capabilities: What it declares, of `contracts.metrics_wire.sides.SERVICE_CAPABILITIES`.
        update_rule: What an update does to the stored ``status_details``: ``replace`` puts what was sent in its place;
            ``merge`` puts each sent key in the place of the stored one, and leaves the others.
        keeps_appended: Whether appended points outlive an update whose ``status_details`` have no ``metrics``, where
            updates replace (capability ``append``). Where they merge, they always do.
        max_body: Bytes of the longest body that is taken (capability ``body_limit``).
    """

    name: str
    version: str
    capabilities: frozenset[str]
    update_rule: Literal["replace", "merge"]
    keeps_appended: bool
    max_body: int

    def request(
        self,
        method: str,
        path: str,
        *,
        content: bytes | Iterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ServiceAnswer:
        """Send one request and read the whole answer. Called from several threads at once, also while it is killed.

        Args:
            method: HTTP method.
            path: Path and query, quoted as they shall be sent.
            content: The body; sent in chunks, without a stated length, where it is an iterable.
            headers: Sent as they are, and no ``Authorization`` besides.
        """

    def kill(self) -> None:
        """End the server with SIGKILL; it is gone when this returns (capability ``restart``)."""

    def restart(self) -> None:
        """Start a killed server again on the same storage; it takes requests when this returns (``restart``)."""

    def guarded(self) -> GuardedService:
        """The same service with a token; it ends with this one (capability ``token``)."""


class GuardedService(JobsService, Protocol):
    """A Jobs service that answers those who know its token.

    Attributes:
        token: What has to follow ``Bearer`` in ``Authorization``.
    """

    token: str
