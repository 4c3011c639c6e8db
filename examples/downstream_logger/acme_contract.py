"""The logger behind the protocol of ``metrics_wire.logger``: it reports to no service, and its file can be read."""

from __future__ import annotations

import sqlite3
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acme_logger import SqliteLogger

if TYPE_CHECKING:
    from collections.abc import Mapping

PHASES = {"train": "train", "validation": "val"}


class Adapter:
    """One file for every run; a run is named by the URL of its task."""

    name = "acme logger"
    version = "0.1"
    capabilities: frozenset[str] = frozenset()
    close_deadline_s = 5.0
    placeholder_job = "local"
    driver_sources = ()

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "curves.db"

    def start(
        self, task_url: str, schedule: Mapping[str, int | None], *, rank: int = 0, algorithm: str = "grpo"
    ) -> SqliteLogger:
        """The logger of one process."""
        return SqliteLogger(self.path, task_url)

    def stored(self, task_url: str) -> dict[str, list[dict[str, Any]]]:
        """The curves of a run, under the chart's names."""
        connection = sqlite3.connect(self.path)
        query = "SELECT series, step, value FROM points WHERE run = ? ORDER BY series, step"
        curves = defaultdict(list)
        for series, step, value in connection.execute(query, (task_url,)):
            curves[chart_name(series)].append({"step": step, "value": value})
        connection.close()
        return curves

    def close(self) -> None:
        """Delete the file."""
        self.folder.cleanup()


def chart_name(series: str) -> str:
    """``train/loss`` as ``train_loss``, ``validation-held_out/loss`` as ``val_held_out/loss``."""
    phase, _, name = series.partition("/")
    kind, dash, validation_set = phase.partition("-")
    return f"{PHASES[kind]}_{validation_set}{'/' if dash else ''}{name}"


def adapter() -> Adapter:
    """What ``contracts run metrics_wire.logger --adapter acme_contract:adapter`` calls."""
    return Adapter()
