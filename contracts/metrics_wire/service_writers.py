"""What the two writers of a task write: the runner's process, and the driver that is its subprocess."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_task import point

if TYPE_CHECKING:
    from contracts.metrics_wire.service_cases import Turn

PHASES = ("compiling_config", "processing_checkpoint", "completed")
_STATUSES = ("pending", "active", "completed")


def body_of(turn: Turn) -> dict[str, Any]:
    """The update of that turn; a driver that cannot append its points sends the whole series."""
    number = turn.number % len(PHASES)
    bodies: dict[str, dict[str, Any]] = {
        "status": {"status": _STATUSES[number]},
        "phase": {"status": _STATUSES[number], "status_details": {"phase": PHASES[number]}},
        "error": {"status": "error", "error_details": {"message": f"failed {turn.number}"}, "error_stack": "Traceback"},
        "series": {"status_details": {"phase": "training", "step": turn.number, "metrics": _series(turn.number)}},
        "points": {"status_details": {"step": turn.number, "metrics": _series(turn.number)}},
    }
    return bodies[turn.kind]


def points_of(turn: Turn) -> dict[str, list[dict[str, Any]]]:
    """The points that the driver appends in that turn."""
    return {"train_loss": [point(turn.number, 1 / (turn.number + 1))], "val_loss": [point(turn.number, turn.number)]}


def _series(last: int) -> dict[str, list[dict[str, Any]]]:
    return {"train_loss": [point(step, 1 / (step + 1)) for step in range(1, last + 1)], "val_loss": []}
