"""Public logger backends behind the logger's protocol, with as little between them and the loop as NeMo-RL has.

Every value of a dict is handed to the backend as it came, under ``<prefix>/<name>``; nothing is filtered or converted.
Configurations, histograms and figures are no series and are left out.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections import defaultdict
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PREFIXES = {"timing/train/": "train_timing/", "timing/validation/": "val_timing/", "train/": "train_"}
PREFIXES |= {"validation/": "val_", "validation-": "val_@"}

Stored = dict[str, list[dict[str, Any]]]


def series_name(tag: str) -> str:
    """The chart's name of what is stored under ``tag``."""
    return next((new + tag.removeprefix(old) for old, new in PREFIXES.items() if tag.startswith(old)), tag)


class BackendLogger(ABC):
    """A training logger that hands on what it gets."""

    @abstractmethod
    def hand_on(self, values: dict[str, Any], step: Any) -> None:
        """Hand values to the backend, by tag."""

    @abstractmethod
    def end(self) -> None:
        """End the backend's run."""

    def log_metrics(
        self,
        metrics: dict[Any, Any],
        step: Any,
        prefix: str = "",
        step_metric: str | None = None,
        step_finished: bool = False,  # noqa: FBT001, FBT002 - NeMo-RL's interface
    ) -> None:
        """Hand every value on."""
        del step_metric, step_finished
        self.hand_on({f"{prefix}/{name}" if prefix else name: value for name, value in metrics.items()}, step)

    def log_hyperparams(self, params: dict[str, Any]) -> None:  # noqa: B027 - no series, so nothing to hand on
        """No series."""

    def log_histogram(self, histogram: Any, step: Any, name: str) -> None:  # noqa: B027 - no series, so nothing to hand on
        """No series."""

    def log_plot(self, figure: Any, step: Any, name: str) -> None:  # noqa: B027 - no series, so nothing to hand on
        """No series."""

    def finish(self) -> None:
        """The same as `close`."""
        self.end()

    def close(self) -> None:
        """End the run."""
        self.end()


class BackendAdapter(ABC):
    """Starts loggers, and reads what their backend stored of a task.

    Attributes:
        name: of the backend.
        version: of the backend.
        capabilities: none: it reports to no service.
        folder: where it stores.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    capabilities: frozenset[str] = frozenset()
    close_deadline_s = 10.0
    placeholder_job = "placeholder"
    driver_sources: tuple[Path, ...] = ()

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.folder = self._folder.name

    def start(
        self, task_url: str, schedule: Mapping[str, int | None], *, rank: int = 0, algorithm: str = "grpo"
    ) -> BackendLogger:
        """The logger of a new process; a backend knows of neither schedule, rank nor algorithm."""
        del schedule, rank, algorithm
        return self.logger(task_of(task_url))

    def stored(self, task_url: str) -> Stored:
        """The task's series, by the backend's own reader."""
        found: Stored = defaultdict(list)
        for tag, points in self.read(task_of(task_url)).items():
            found[series_name(tag)] += points
        return found

    @abstractmethod
    def logger(self, task: str) -> BackendLogger:
        """A logger of the backend."""

    @abstractmethod
    def read(self, task: str) -> Stored:
        """What the backend stored, by tag."""

    def close(self) -> None:
        """Remove what was stored."""
        self._folder.cleanup()


def task_of(task_url: str) -> str:
    """A name for the task that a folder may have."""
    return urlsplit(task_url).path.strip("/").replace("/", "-")
