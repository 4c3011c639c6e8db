"""A training driver without a trainer: it plays a recorded script of logger calls through the real run wrapper.

``python -m impl.metrics_wire.driver SCRIPT`` reads one JSON object a line, the first of which has ``task_url``,
``algorithm`` and the schedule's four numbers. Then ``{"call": "log_metrics", "metrics", "step", "prefix"}`` and, at the
end, one of ``return``, ``raise``, ``exit``, ``wait`` (until a signal comes). Each line is echoed by its number, on
stdout, once it was carried out.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from impl.metrics_wire.logger import NemoRLLogger
from impl.metrics_wire.progress import DpoTrainingProgressCallback, GrpoTrainingProgressCallback
from impl.metrics_wire.reporter import JobsServiceProgressReporter
from impl.metrics_wire.run import run_dpo, run_grpo


class Composite:
    """Fans out to its backends as NeMo-RL's logger does: positionally, each the same dict.

    Attributes:
        loggers: The backends.
    """

    def __init__(self) -> None:
        self.loggers: list[Any] = []

    def log_metrics(self, metrics: dict[str, Any], step: int, prefix: str = "") -> None:
        """Hand one call to every backend."""
        for logger in self.loggers:
            logger.log_metrics(metrics, step, prefix, None, False)  # noqa: FBT003 - as the composite calls it


def main(path: str) -> None:
    """Play the script at ``path``."""
    first, *calls = [json.loads(line) for line in Path(path).read_text().splitlines()]
    is_dpo = first["algorithm"] == "dpo"
    logger = NemoRLLogger.for_schedule(
        first["max_steps"],
        first["num_epochs"],
        first["val_period"],
        first["steps_per_epoch"],
        reporter=JobsServiceProgressReporter(first["task_url"]),
        callback_class=DpoTrainingProgressCallback if is_dpo else GrpoTrainingProgressCallback,
    )
    composite = Composite()
    (run_dpo if is_dpo else run_grpo)(lambda: _train(calls, composite), composite, logger)


def _train(calls: list[dict[str, Any]], composite: Composite) -> None:
    for number, call in enumerate(calls, start=1):
        if call["call"] == "log_metrics":
            composite.log_metrics(call["metrics"], call["step"], call["prefix"])
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        if call["call"] == "raise":
            raise RuntimeError("the training failed, as the script says")
        if call["call"] == "exit":
            raise SystemExit(3)
        while call["call"] == "wait":
            time.sleep(0.02)


if __name__ == "__main__":
    main(sys.argv[1])
