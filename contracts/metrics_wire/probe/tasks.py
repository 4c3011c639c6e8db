"""What the probe keeps of its tasks, and what an update does to it."""

from __future__ import annotations

import copy
import threading
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Semantics(StrEnum):
    """What an update does to the stored ``status_details``. Known services differ."""

    REPLACE = "replace"
    MERGE = "merge"


@dataclass(slots=True)
class _Task:
    status: str = "pending"
    details: dict[str, Any] = field(default_factory=dict)
    appended: dict[str, dict[int, dict[str, Any]]] = field(default_factory=dict)
    error_details: Any = None
    error_stack: str | None = None


class TaskStore:
    """The tasks, by path. Safe between threads; what goes in and out is copied.

    Args:
        semantics: What an update does to the stored ``status_details``.
        keeps_appended: Whether appended series survive an update without ``metrics``, where updates replace.

    Attributes:
        semantics: What an update does to the stored ``status_details``.
        keeps_appended: As given.
    """

    def __init__(self, semantics: Semantics, *, keeps_appended: bool = True) -> None:
        self.semantics = semantics
        self.keeps_appended = keeps_appended
        self._lock = threading.Lock()
        self._tasks: dict[str, _Task] = {}

    def read(self, path: str) -> dict[str, Any] | None:
        """The task as a reader sees it: appended series stand inside ``status_details.metrics``."""
        with self._lock:
            task = self._tasks.get(path)
            if task is None:
                return None
            details = copy.deepcopy(task.details)
            if task.appended:
                metrics = details.get("metrics")
                details["metrics"] = _overlaid(metrics if isinstance(metrics, dict) else {}, task.appended)
            return {
                "status": task.status,
                "status_details": details,
                "error_details": copy.deepcopy(task.error_details),
                "error_stack": task.error_stack,
            }

    def update(self, path: str, body: dict[str, Any]) -> None:
        """Create the task, or update it with the fields that ``body`` has."""
        with self._lock:
            task = self._tasks.setdefault(path, _Task())
            task.status = body.get("status", task.status)
            task.error_details = copy.deepcopy(body.get("error_details", task.error_details))
            task.error_stack = body.get("error_stack", task.error_stack)
            if "status_details" not in body:
                return
            sent = copy.deepcopy(body["status_details"])
            if "metrics" in sent or (self.semantics is Semantics.REPLACE and not self.keeps_appended):
                task.appended = {}
            task.details = sent if self.semantics is Semantics.REPLACE else task.details | sent

    def append(self, path: str, metrics: dict[str, list[dict[str, Any]]]) -> bool:
        """Add points by series and step, the last one wins; whether there is such a task."""
        with self._lock:
            task = self._tasks.get(path)
            if task is None:
                return False
            for name, points in metrics.items():
                series = task.appended.setdefault(name, {})
                series.update({point["step"]: dict(point) for point in points})
            return True

    def preset(self, path: str, **fields: Any) -> None:
        """Store a task as some other writer left it, well-formed or not."""
        with self._lock:
            self._tasks[path] = _Task(**copy.deepcopy(fields))


def _points(written: object) -> list[dict[str, Any]]:
    if not isinstance(written, list):
        return []
    return [point for point in written if isinstance(point, dict) and isinstance(point.get("step"), int)]


def _overlaid(metrics: dict[str, Any], appended: dict[str, dict[int, dict[str, Any]]]) -> dict[str, Any]:
    merged = dict(metrics)
    for name, points in appended.items():
        written = merged.get(name)
        by_step = {point["step"]: point for point in _points(written)}
        by_step |= points
        merged[name] = [by_step[step] for step in sorted(by_step)]
    return merged
