"""What a Jobs service has stored of a task, read tolerantly: a malformed part is the same as nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from impl.metrics_wire.series import Point
from impl.metrics_wire.values import chartable, step_number


@dataclass(frozen=True, slots=True)
class StoredTask:
    """A task as the service returned it.

    Attributes:
        exists: Whether the service knows the task.
        metrics: Every well-formed point, by series.
        checkpoint_path: The last path that was reported, if any.
    """

    exists: bool
    metrics: dict[str, list[Point]] = field(default_factory=dict)
    checkpoint_path: str | None = None


def stored_task(body: Mapping[str, Any] | None) -> StoredTask:
    """The task from the body of a ``GET``; ``None`` where the service answered that there is no such task."""
    if body is None:
        return StoredTask(exists=False)
    details = body.get("status_details")
    if not isinstance(details, Mapping):
        return StoredTask(exists=True)
    path = details.get("checkpoint_path")
    return StoredTask(
        exists=True, metrics=_metrics(details.get("metrics")), checkpoint_path=path if isinstance(path, str) else None
    )


def _metrics(stored: object) -> dict[str, list[Point]]:
    if not isinstance(stored, Mapping):
        return {}
    return {name: _points(points) for name, points in stored.items() if isinstance(points, list)}


def _points(stored: list[object]) -> list[Point]:
    points = []
    for entry in stored:
        if not isinstance(entry, Mapping):
            continue
        step, epoch, value = (
            step_number(entry.get("step")),
            step_number(entry.get("epoch")),
            chartable(entry.get("value")),
        )
        if step is not None and epoch and value is not None:
            points.append(Point(step, epoch, value))
    return points
