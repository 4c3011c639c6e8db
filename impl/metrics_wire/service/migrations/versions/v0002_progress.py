"""The progress that the list shows, beside the snapshot that it was read from for every list before."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_PHASE_LENGTH = 64
_COLUMNS: dict[str, sa.types.TypeEngine[Any]] = {
    "phase": sa.String(_PHASE_LENGTH),
    "train_step": sa.BigInteger(),
    "max_steps": sa.BigInteger(),
    "percentage_done": sa.Float(),
}
_LARGEST_STEP = 2**53 - 1


def upgrade() -> None:
    """Add the columns and fill them from the snapshots."""
    for name, kind in _COLUMNS.items():
        op.add_column("tasks", sa.Column(name, kind))
    tasks = sa.table("tasks", *map(sa.column, ("id", "status_details", *_COLUMNS)))
    connection = op.get_bind()
    for number in connection.scalars(sa.select(tasks.c.id)).all():
        of_task = tasks.c.id == number
        snapshot = json.loads(connection.scalars(sa.select(tasks.c.status_details).where(of_task)).one())
        connection.execute(sa.update(tasks).where(of_task).values(_progress(snapshot)))


def _progress(snapshot: dict[str, object]) -> dict[str, object]:
    phase, percentage = snapshot.get("phase"), snapshot.get("percentage_done")
    return {
        "phase": phase if isinstance(phase, str) and phase.isprintable() and len(phase) <= _PHASE_LENGTH else None,
        "train_step": _count(snapshot.get("step")),
        "max_steps": _count(snapshot.get("max_steps")),
        "percentage_done": _number(percentage),
    }


def _number(value: Any) -> float | None:
    return float(value) if type(value) in {int, float} else None


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= _LARGEST_STEP else None
