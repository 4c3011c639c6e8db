"""The statements that every write needs, built once: to build one anew costs more than to execute it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BindParameter, bindparam, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from impl.metrics_wire.service.tables import PointRow, SeriesRow, TaskRow

if TYPE_CHECKING:
    from sqlalchemy import Executable

_IDS = ("workspace", "job", "step", "task")
_IS_TASK = [getattr(TaskRow, name) == bindparam(f"its_{name}") for name in _IDS]
_OF_TASK: BindParameter[int] = bindparam("of_task")

#: The row of a task: parameters ``its_workspace``, ``its_job``, ``its_step``, ``its_task``, as for `COUNT_REVISION`.
READ_TASK = select(*TaskRow.__table__.c).where(*_IS_TASK)

#: The same, locked until the transaction ends.
LOCK_TASK = READ_TASK.with_for_update()

#: Locks a task for an append; gives its id and its new revision. Parameter ``now``.
COUNT_REVISION = (
    update(TaskRow)
    .where(*_IS_TASK)
    .values(revision=TaskRow.revision + 1, updated_at=bindparam("now"))
    .returning(TaskRow.id, TaskRow.revision)
)

#: Name, number and whether it was appended to, of every series of ``of_task``.
READ_SERIES = select(SeriesRow.name, SeriesRow.number, SeriesRow.appended).where(SeriesRow.task_id == _OF_TASK)

#: From now on series ``numbered`` of ``of_task`` was appended to.
MARK_APPENDED = (
    update(SeriesRow)
    .where(SeriesRow.task_id == _OF_TASK, SeriesRow.number == bindparam("numbered"))
    .values(appended=True)
)

ADD_SERIES = insert(SeriesRow)
ADD_POINTS = insert(PointRow)

#: What goes with all series of ``of_task``, in this order.
DROP_ALL = (
    delete(PointRow).where(PointRow.task_id == _OF_TASK),
    delete(SeriesRow).where(SeriesRow.task_id == _OF_TASK),
)

#: What goes with the series that only updates have brought.
DROP_WRITTEN = (
    delete(PointRow).where(PointRow.task_id == _OF_TASK, ~PointRow.appended),
    delete(SeriesRow).where(SeriesRow.task_id == _OF_TASK, ~SeriesRow.appended),
)


def _upsert(adding: sqlite.Insert | postgresql.Insert) -> Executable:
    changed = {name: adding.excluded[name] for name in ("epoch", "value", "appended")}
    return adding.on_conflict_do_update(index_elements=["task_id", "series_number", "step"], set_=changed)


#: Creates a task unless another writer has done so, by the name of the dialect.
CREATE_TASK: dict[str, Executable] = {
    "sqlite": sqlite.insert(TaskRow).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(TaskRow).on_conflict_do_nothing(),
}

#: Adds points, or puts them in the place of those that are there, by the name of the dialect.
UPSERT_POINTS: dict[str, Executable] = {
    "sqlite": _upsert(sqlite.insert(PointRow)),
    "postgresql": _upsert(postgresql.insert(PointRow)),
}
