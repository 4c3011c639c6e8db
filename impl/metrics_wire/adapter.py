"""The reference behind the protocol of the logger's contract."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from impl.metrics_wire import run
from impl.metrics_wire.logger import NemoRLLogger
from impl.metrics_wire.progress import DpoTrainingProgressCallback, GrpoTrainingProgressCallback
from impl.metrics_wire.reporter import JobsServiceProgressReporter
from impl.metrics_wire.schedule import for_schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from impl.metrics_wire.callback import TrainingProgressCallback
    from impl.metrics_wire.run import CompositeLogger

_CALLBACKS = {"grpo": GrpoTrainingProgressCallback, "dpo": DpoTrainingProgressCallback}


class ReferenceLogger(NemoRLLogger):
    """The reference's logger, with the events that no NeMo-RL loop logs."""

    def training_start(self) -> None:
        """The loop begins."""
        self.callback.report_training_start()

    def epoch_end(self, step: int) -> None:
        """An epoch ended with ``step``."""
        self.callback.report_epoch_end(step)

    def checkpoint_saved(self, step: int, path: str | None) -> None:
        """A checkpoint was saved."""
        self.callback.report_checkpoint_saved(step, path)


class ReferenceAdapter:
    """Builds the reference's logger, drivers and runner against a given task.

    Attributes:
        name: Name of the implementation.
        version: Its version.
        capabilities: What it can do beyond the least.
        close_deadline_s: Seconds within which a logger's ``close`` returns, whatever the service does.
        placeholder_job: A job id that stands for none.
        driver_sources: Files that hold the drivers.
    """

    name = "reference"
    version = importlib.metadata.version("rl-contracts")
    capabilities = frozenset({"reports_to_service", "append", "events", "driver", "runner"})
    close_deadline_s = 4.0
    placeholder_job = "placeholder"
    driver_sources = (Path(run.__file__),)

    def start(
        self, task_url: str, schedule: Mapping[str, int | None], *, rank: int = 0, algorithm: str = "grpo"
    ) -> Any:
        """The logger of a new process that trains the task."""
        callback: type[TrainingProgressCallback] = _CALLBACKS[algorithm]
        reporter = JobsServiceProgressReporter(task_url, rank=rank)
        return ReferenceLogger(
            callback(reporter, for_schedule(**schedule), close_deadline_s=self.close_deadline_s)  # type: ignore[arg-type]  # the schedule's four numbers
        )

    def drive(self, algorithm: str, train: Callable[[], object], composite: CompositeLogger, logger: Any) -> object:
        """Run ``train`` under the driver of the algorithm, as its process would."""
        if algorithm == "dpo":
            return run.run_dpo(train, composite, logger)
        return run.run_grpo(train, composite, logger)

    def runner(self, task_url: str) -> JobsServiceProgressReporter:
        """What the runner's process reports with."""
        return JobsServiceProgressReporter(task_url)

    def driver_command(
        self,
        task_url: str,
        schedule: Mapping[str, int | None],
        calls: list[dict[str, Any]],
        folder: Path,
        *,
        algorithm: str = "grpo",
    ) -> list[str]:
        """Command line of a driver process that plays ``calls``, echoing the number of each that it has carried out."""
        script = folder / "script.jsonl"
        first = {"task_url": task_url, "algorithm": algorithm, **schedule}
        script.write_text("".join(f"{json.dumps(line)}\n" for line in (first, *calls)))
        return [sys.executable, "-m", "impl.metrics_wire.driver", str(script)]

    def close(self) -> None:
        """Nothing is held."""


def logger() -> ReferenceAdapter:
    """The adapter of the reference, for the contract's command line."""
    return ReferenceAdapter()
