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
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import update

from impl.metrics_wire.service import statements
from impl.metrics_wire.service.progress import progress
from impl.metrics_wire.service.settings import Rule
from impl.metrics_wire.service.tables import TaskRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sqlalchemy import Connection, Executable, Row

    from impl.metrics_wire.service.schemas import Metrics, Point, TaskUpdate

#: Rows that are handed to the database at once.
_ROWS = 5000


@dataclass(frozen=True, slots=True)
class TaskKey:
    """Which task: the four ids of its path."""

    workspace: str
    job: str
    step: str
    task: str

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the statements that look for it."""
        return {"its_workspace": self.workspace, "its_job": self.job, "its_step": self.step, "its_task": self.task}


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
            _drop(connection, row.id, statements.DROP_WRITTEN)
            values["has_written_series"] = False
    written = update(TaskRow).where(TaskRow.id == row.id).values(values).returning(*TaskRow.__table__.c)
    return connection.execute(written).one()


def append(connection: Connection, key: TaskKey, metrics: Metrics) -> int:
    """Add points to the series of a task; its revision afterwards.

    Raises:
        NoSuchTaskError: If there is no such task.
    """
    row = connection.execute(statements.COUNT_REVISION, key.parameters | {"now": _now()}).one_or_none()
    if row is None:
        raise NoSuchTaskError
    numbers = _appended_series(connection, row.id, [name.encode() for name in metrics])
    adding = statements.UPSERT_POINTS[connection.dialect.name]
    _insert(connection, adding, _rows(row.id, numbers, metrics, appended=True))
    return int(row.revision)


def _locked(connection: Connection, key: TaskKey) -> Row[Any]:
    row = connection.execute(statements.LOCK_TASK, key.parameters).one_or_none()
    if row is not None:
        return row
    now = _now()
    new: dict[str, Any] = asdict(key) | {"status": "pending", "status_details": "{}", "has_written_series": False}
    new |= {"revision": 0, "created_at": now, "updated_at": now}
    connection.execute(statements.CREATE_TASK[connection.dialect.name], new)
    return connection.execute(statements.LOCK_TASK, key.parameters).one()


def _appended_series(connection: Connection, task_id: int, names: list[bytes]) -> dict[bytes, int]:
    """The numbers of all series, those that are appended to made where they are new."""
    stored = connection.execute(statements.READ_SERIES, {"of_task": task_id}).all()
    numbers = {name: number for name, number, _ in stored}
    named = set(names)
    for number in [number for name, number, appended in stored if not appended and name in named]:
        connection.execute(statements.MARK_APPENDED, {"of_task": task_id, "numbered": number})
    new = [name for name in names if name not in numbers]
    first = max(numbers.values(), default=0) + 1
    numbers |= dict(zip(new, range(first, first + len(new)), strict=True))
    _add_series(connection, task_id, numbers, new, appended=True)
    return numbers


def _replace_series(connection: Connection, task_id: int, metrics: Metrics) -> None:
    _drop(connection, task_id, statements.DROP_ALL)
    numbers = {name.encode(): number for number, name in enumerate(metrics, start=1)}
    _add_series(connection, task_id, numbers, numbers, appended=False)
    _insert(connection, statements.ADD_POINTS, _rows(task_id, numbers, metrics, appended=False))


def _drop(connection: Connection, task_id: int, dropping: Iterable[Executable]) -> None:
    for each in dropping:
        connection.execute(each, {"of_task": task_id})


def _add_series(
    connection: Connection, task_id: int, numbers: Mapping[bytes, int], names: Iterable[bytes], *, appended: bool
) -> None:
    rows = ({"task_id": task_id, "number": numbers[name], "name": name, "appended": appended} for name in names)
    _insert(connection, statements.ADD_SERIES, rows)


def _insert(connection: Connection, adding: Executable, rows: Iterable[dict[str, Any]]) -> None:
    rows = iter(rows)
    while some := list(islice(rows, _ROWS)):
        connection.execute(adding, some)


def _rows(task_id: int, numbers: Mapping[bytes, int], metrics: Metrics, *, appended: bool) -> Iterator[dict[str, Any]]:
    """One row for each series and step; the last point of a step wins."""
    for name, points in metrics.items():
        number = numbers[name.encode()]
        by_step: dict[int, Point] = {point["step"]: point for point in points}
        for step, point in by_step.items():
            yield {
                "task_id": task_id,
                "series_number": number,
                "step": step,
                "epoch": point["epoch"],
                "value": repr(point["value"]),
                "appended": appended,
            }


def _now() -> int:
    return time.time_ns() // 1000
