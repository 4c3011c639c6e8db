"""A training logger that keeps its curves in an SQLite file, as a backend of NeMo-RL's composite logger."""

from __future__ import annotations

import logging
import math
import sqlite3
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "CREATE TABLE IF NOT EXISTS points (run, series, step INTEGER, value, PRIMARY KEY (run, series, step))"
log = logging.getLogger("acme_logger")


class SqliteLogger:
    """Writes every chartable number as it is logged; the value that is logged last for a step stays."""

    def __init__(self, path: Path, run: str) -> None:
        self.run = run
        self.lock = threading.Lock()
        self.connection: sqlite3.Connection | None = sqlite3.connect(path, timeout=10, check_same_thread=False)
        with self.connection:
            self.connection.execute(SCHEMA)

    def log_metrics(
        self,
        metrics: dict[Any, Any],
        step: Any,
        prefix: str = "",
        step_metric: str | None = None,
        step_finished: bool = False,
    ) -> None:
        """Store a point for each number of ``metrics``; nothing here raises into the training loop."""
        number = whole(step)
        if number is None or not prefix.startswith(("train", "validation")):
            return
        rows = [
            (self.run, f"{prefix}/{name}", number, value)
            for name, raw in metrics.items()
            if (value := chartable(raw)) is not None
        ]
        with self.lock:
            if self.connection is None:
                return
            try:
                with self.connection:
                    self.connection.executemany("INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?)", rows)
            except sqlite3.Error as error:
                log.warning("step %s is not stored: %s", number, error)

    def log_hyperparams(self, params: dict[str, Any]) -> None:
        """Not charted."""

    def log_histogram(self, histogram: Any, step: Any, name: str) -> None:
        """Not charted."""

    def log_plot(self, figure: Any, step: Any, name: str) -> None:
        """Not charted."""

    def finish(self) -> None:
        """Close the file; later calls do nothing."""
        with self.lock:
            if self.connection is not None:
                self.connection.close()
                self.connection = None

    close = finish


def whole(step: Any) -> int | None:
    """The step as a number that SQLite can hold, None where it is no step."""
    try:
        number = int(step)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number == step and 0 <= number < 2**63 else None


def chartable(raw: Any) -> int | float | None:
    """A finite number, of Python, numpy or a tensor of no dimension; None for anything else."""
    if isinstance(raw, (bool, str, bytes)) or raw is None:
        return None
    if hasattr(raw, "item") and tuple(raw.shape) == ():
        raw = raw.item()
    if isinstance(raw, int):
        return raw if -(2**63) <= raw < 2**63 else None
    return raw if isinstance(raw, float) and math.isfinite(raw) else None
