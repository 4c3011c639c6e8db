"""What the list shows of a task's progress, taken from its snapshot whenever that is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from impl.metrics_wire.service.json_values import MAX_STEP
from impl.metrics_wire.service.tables import PHASE_LENGTH

if TYPE_CHECKING:
    from collections.abc import Mapping


class Progress(TypedDict):
    """The columns of a task that the list shows, ``None`` where its snapshot says nothing of the kind."""

    phase: str | None
    train_step: int | None
    max_steps: int | None
    percentage_done: float | None


def progress(snapshot: Mapping[str, Any]) -> Progress:
    """The progress that a snapshot tells. It may hold anything at all under the names that are looked for."""
    phase, percentage = snapshot.get("phase"), snapshot.get("percentage_done")
    return Progress(
        phase=phase if isinstance(phase, str) and phase.isprintable() and len(phase) <= PHASE_LENGTH else None,
        train_step=_count(snapshot.get("step")),
        max_steps=_count(snapshot.get("max_steps")),
        percentage_done=_number(percentage),
    )


def _number(value: Any) -> float | None:
    return float(value) if type(value) in {int, float} else None


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_STEP else None
