"""What a reader sees of the stored tasks: JSON text that is joined from what is stored, not parsed and written anew."""

from __future__ import annotations

import datetime as dt
import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from impl.metrics_wire.service import statements
from impl.metrics_wire.service.schemas import ListedTask
from impl.metrics_wire.service.tables import PointRow, SeriesRow, TaskRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Row

    from impl.metrics_wire.service.store import TaskKey

#: Always among the series, if there are any: a chart reads them without asking.
LOSS_SERIES = (b"train_loss", b"val_loss")


def find_task(connection: Connection, key: TaskKey) -> Row[Any] | None:
    """The row of a task, ``None`` if there is none."""
    return connection.execute(statements.READ_TASK, key.parameters).one_or_none()


def etag(row: Row[Any]) -> str:
    """The entity tag of a task: another one after every write."""
    return f'"{row.revision}-{row.updated_at}"'


def task_json(row: Row[Any], metrics: str | None = None) -> str:
    """A task as a JSON object.

    Args:
        row: Its row.
        metrics: Its series as JSON, ``None`` to leave them out.
    """
    details = row.status_details
    if metrics is not None:
        details = f'{details[:-1]}{"" if details == "{}" else ", "}"metrics": {metrics}}}'
    return (
        f'{{"workspace": "{row.workspace}", "job": "{row.job}", "step": "{row.step}", "task": "{row.task}", '
        f'"status": "{row.status}", "status_details": {details}, "error_details": {row.error_details or "null"}, '
        f'"error_stack": {row.error_stack or "null"}, "revision": {row.revision}, '
        f'"created_at": "{_time(row.created_at)}", "updated_at": "{_time(row.updated_at)}"}}'
    )


def metrics_json(connection: Connection, row: Row[Any]) -> str | None:
    """All series of a task as a JSON object, steps ascending; ``None`` if it has none."""
    named = select(SeriesRow.number, SeriesRow.name).where(SeriesRow.task_id == row.id).order_by(SeriesRow.number)
    series: Sequence[tuple[int, bytes]] = [(number, name) for number, name in connection.execute(named)]
    if not series and not row.has_written_series:
        return None
    reading = (
        select(PointRow.series_number, PointRow.step, PointRow.epoch, PointRow.value)
        .where(PointRow.task_id == row.id)
        .order_by(PointRow.series_number, PointRow.step)
    )
    points = {
        number: ", ".join(f'{{"step": {step}, "epoch": {epoch}, "value": {value}}}' for _, step, epoch, value in group)
        for number, group in groupby(connection.execute(reading), key=lambda point: point[0])
    }
    texts = dict.fromkeys(LOSS_SERIES, "") | {name: points.get(number, "") for number, name in series}
    return "{" + ", ".join(f"{json.dumps(name.decode())}: [{text}]" for name, text in texts.items()) + "}"


def list_json(connection: Connection, workspace: str | None = None, job: str | None = None) -> str:
    """The list of tasks as a JSON object, the one that was written last first.

    Args:
        connection: The database.
        workspace: Only tasks of this workspace, ``None`` for all.
        job: Only tasks of this job, ``None`` for all.
    """
    asked = {"workspace": workspace, "job": job}
    where = [getattr(TaskRow, name) == value for name, value in asked.items() if value is not None]
    columns = [getattr(TaskRow, name) for name in ListedTask.model_fields]
    listing = select(*columns).where(*where).order_by(TaskRow.updated_at.desc(), TaskRow.id.desc())
    tasks = [row._asdict() for row in connection.execute(listing)]
    for task in tasks:
        task |= {name: _time(task[name]) for name in ("created_at", "updated_at")}
    return json.dumps({"tasks": tasks})


def _time(microseconds: int) -> str:
    moment = dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(microseconds=microseconds)
    return moment.isoformat(timespec="microseconds")
