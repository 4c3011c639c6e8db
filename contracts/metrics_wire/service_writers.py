"""What the two writers of a task write: the runner's process, and the driver that is its subprocess."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_model import StoredTask
from contracts.metrics_wire.service_task import Task, point, unpadded

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import JobsService, ServiceAnswer
    from contracts.metrics_wire.service_cases import Turn

PHASES = ("compiling_config", "processing_checkpoint", "completed")
_STATUSES = ("pending", "active", "completed")
_FIRST: dict[str, Any] = {"status": "created", "status_details": {}, "error_details": {}, "error_stack": ""}


def created_task(check: Check[Any], service: JobsService) -> tuple[Task, StoredTask]:
    """A task as the platform creates it for its writers, and what must be stored of it."""
    task, model = Task(check, service), StoredTask(service)
    task.write(**_FIRST)
    model.update(_FIRST)
    return task, model


def sent(task: Task, turn: Turn) -> ServiceAnswer:
    """Send the write of that turn; a driver whose service cannot append sends the whole series."""
    appends = turn.kind == "points" and "append" in task.service.capabilities
    return task.post(_points(turn)) if appends else task.put(_body(turn))


def record(model: StoredTask, turn: Turn) -> None:
    """The write of that turn was acknowledged."""
    if turn.kind == "points" and model.appends:
        model.append(_points(turn))
    else:
        model.update(_body(turn))


def outcomes(service: JobsService, one: tuple[Turn, ...], other: tuple[Turn, ...]) -> list[dict[str, Any]]:
    """What may be stored once both writers, each in its order, have written to a new task."""
    total = len(one) + len(other)
    found = []
    for places in itertools.combinations(range(total), len(one)):
        model, first, second = StoredTask(service), iter(one), iter(other)
        model.update(_FIRST)
        for place in range(total):
            record(model, next(first if place in places else second))
        found.append(unpadded(model.fields))
    return found


def _body(turn: Turn) -> dict[str, Any]:
    number = turn.number % len(PHASES)
    bodies: dict[str, dict[str, Any]] = {
        "status": {"status": _STATUSES[number]},
        "phase": {"status": _STATUSES[number], "status_details": {"phase": PHASES[number]}},
        "error": {"status": "error", "error_details": {"message": f"failed {turn.number}"}, "error_stack": "Traceback"},
        "series": {"status_details": {"phase": "training", "step": turn.number, "metrics": _series(turn.number)}},
        "points": {"status_details": {"step": turn.number, "metrics": _series(turn.number)}},
    }
    return bodies[turn.kind]


def _points(turn: Turn) -> dict[str, list[dict[str, Any]]]:
    return {"train_loss": [point(turn.number, 1 / (turn.number + 1))], "val_loss": [point(turn.number, turn.number)]}


def _series(last: int) -> dict[str, list[dict[str, Any]]]:
    return {"train_loss": [point(step, 1 / (step + 1)) for step in range(1, last + 1)], "val_loss": []}
