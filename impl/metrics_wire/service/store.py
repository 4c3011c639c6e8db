"""What an update and an append do to a stored task.

A task has a snapshot (``status_details`` without ``metrics``) and series. An update that has ``metrics`` replaces all
series of the task. Where updates *merge*, one without ``metrics`` leaves them alone. Where they *replace*, it drops
what an update has brought, as it drops the rest of the old ``status_details``; points that came by an append are no
part of what an update has sent, and stay. An appended point takes the place of a stored one of its series and step.

Every function here writes to one task and locks it first, so that writers of the same task follow one another.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from impl.metrics_wire.service.progress import progress
from impl.metrics_wire.service.settings import Rule
from impl.metrics_wire.service.tables import PointRow, SeriesRow, TaskRow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection, Row

    from impl.metrics_wire.service.schemas import Metrics, Point, TaskUpdate
    from impl.metrics_wire.service.tables import Base

_Upsert = postgresql.Insert | sqlite.Insert


@dataclass(frozen=True, slots=True)
class TaskKey:
    """Which task: the four ids of its path."""

    workspace: str
    job: str
    step: str
    task: str


class NoSuchTaskError(LookupError):
    """Nobody has created the task."""


def update_task(connection: Connection, key: TaskKey, sent: TaskUpdate, rule: Rule) -> Row[Any]:
    """Create or update a task; its row as it is afterwards."""
    row = _locked(connection, key)
    fields = sent.model_fields_set
    values: dict[str, Any] = {"revision": row.revision + 1, "updated_at": _now()}
    if "status" in fields:
        values["status"] = sent.status
    if "error_details" in fields:
        values["error_details"] = json.dumps(sent.error_details)
    if "error_stack" in fields:
        values["error_stack"] = json.dumps(sent.error_stack)
    if "status_details" in fields:
        snapshot = dict(sent.status_details.model_extra or {})
        if rule is Rule.MERGE:
            snapshot = json.loads(row.status_details) | snapshot
        values |= {"status_details": json.dumps(snapshot), **progress(snapshot)}
        if "metrics" in sent.status_details.model_fields_set:
            _replace_series(connection, row.id, sent.status_details.metrics)
            values["has_written_series"] = True
        elif rule is Rule.REPLACE and row.has_written_series:
            _drop_written(connection, row.id)
            values["has_written_series"] = False
    written = update(TaskRow).where(TaskRow.id == row.id).values(values).returning(*TaskRow.__table__.c)
    return connection.execute(written).one()


def append(connection: Connection, key: TaskKey, metrics: Metrics) -> int:
    """Add points to the series of a task; its revision afterwards.

    Raises:
        NoSuchTaskError: If there is no such task.
    """
    locking = (
        update(TaskRow)
        .where(*_is(key))
        .values(revision=TaskRow.revision + 1, updated_at=_now())
        .returning(TaskRow.id, TaskRow.revision)
    )
    row = connection.execute(locking).one_or_none()
    if row is None:
        raise NoSuchTaskError
    numbers = _appended_series(connection, row.id, [name.encode() for name in metrics])
    points = _rows(row.id, numbers, metrics, appended=True)
    if points:
        adding = _upsert(connection, PointRow)
        adding = adding.on_conflict_do_update(
            index_elements=["task_id", "series_number", "step"],
            set_={name: adding.excluded[name] for name in ("epoch", "value", "appended")},
        )
        connection.execute(adding, points)
    return int(row.revision)


def _locked(connection: Connection, key: TaskKey) -> Row[Any]:
    reading = select(*TaskRow.__table__.c).where(*_is(key)).with_for_update()
    row = connection.execute(reading).one_or_none()
    if row is not None:
        return row
    now = _now()
    new: dict[str, Any] = asdict(key) | {"status": "pending", "status_details": "{}", "has_written_series": False}
    new |= {"revision": 0, "created_at": now, "updated_at": now}
    connection.execute(_upsert(connection, TaskRow).on_conflict_do_nothing(), new)
    return connection.execute(reading).one()


def _upsert(connection: Connection, table: type[Base]) -> _Upsert:
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def _appended_series(connection: Connection, task_id: int, names: list[bytes]) -> dict[bytes, int]:
    """The numbers of series that are appended to, made where they are new."""
    reading = select(SeriesRow.name, SeriesRow.number, SeriesRow.appended).where(SeriesRow.task_id == task_id)
    stored = {name: (number, appended) for name, number, appended in connection.execute(reading)}
    if any(name in stored and not stored[name][1] for name in names):
        only_written = [stored[name][0] for name in names if name in stored and not stored[name][1]]
        for number in only_written:
            marking = update(SeriesRow).where(SeriesRow.task_id == task_id, SeriesRow.number == number)
            connection.execute(marking.values(appended=True))
    numbers = {name: number for name, (number, _) in stored.items()}
    new = [name for name in names if name not in numbers]
    if new:
        first = max(numbers.values(), default=0) + 1
        numbers |= dict(zip(new, range(first, first + len(new)), strict=True))
        _add_series(connection, task_id, numbers, new, appended=True)
    return numbers


def _replace_series(connection: Connection, task_id: int, metrics: Metrics) -> None:
    connection.execute(delete(PointRow).where(PointRow.task_id == task_id))
    connection.execute(delete(SeriesRow).where(SeriesRow.task_id == task_id))
    numbers = {name.encode(): number for number, name in enumerate(metrics, start=1)}
    _add_series(connection, task_id, numbers, numbers, appended=False)
    points = _rows(task_id, numbers, metrics, appended=False)
    if points:
        connection.execute(insert(PointRow), points)


def _drop_written(connection: Connection, task_id: int) -> None:
    connection.execute(delete(PointRow).where(PointRow.task_id == task_id, ~PointRow.appended))
    connection.execute(delete(SeriesRow).where(SeriesRow.task_id == task_id, ~SeriesRow.appended))


def _add_series(
    connection: Connection, task_id: int, numbers: dict[bytes, int], names: Iterable[bytes], *, appended: bool
) -> None:
    rows = [{"task_id": task_id, "number": numbers[name], "name": name, "appended": appended} for name in names]
    if rows:
        connection.execute(insert(SeriesRow), rows)


def _rows(task_id: int, numbers: dict[bytes, int], metrics: Metrics, *, appended: bool) -> list[dict[str, Any]]:
    """One row for each series and step; the last point of a step wins."""
    rows = []
    for name, points in metrics.items():
        number = numbers[name.encode()]
        by_step: dict[int, Point] = {point["step"]: point for point in points}
        rows += [
            {
                "task_id": task_id,
                "series_number": number,
                "step": step,
                "epoch": point["epoch"],
                "value": repr(point["value"]),
                "appended": appended,
            }
            for step, point in by_step.items()
        ]
    return rows


def _is(key: TaskKey) -> tuple[Any, ...]:
    return (
        TaskRow.workspace == key.workspace,
        TaskRow.job == key.job,
        TaskRow.step == key.step,
        TaskRow.task == key.task,
    )


def _now() -> int:
    return time.time_ns() // 1000
