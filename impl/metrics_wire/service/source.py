"""The tasks of a job, read from a database or from a running service."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import httpx
from pydantic import BaseModel, ValidationError

from impl.metrics_wire.service import rendering
from impl.metrics_wire.service.database import open_database, reading
from impl.metrics_wire.service.schemas import Refusal, Task, TaskList
from impl.metrics_wire.service.store import TaskKey

if TYPE_CHECKING:
    from typing import TypeVar

    Model = TypeVar("Model", bound=BaseModel)

_TIMEOUT_S = 30.0


class SourceError(Exception):
    """The service could not be read; the message says why."""


def tasks_in_database(address: str, job: str) -> list[Task]:
    """Every task of a job, the one that was written last first; empty if there is none.

    Raises:
        DatabaseError: If the database cannot be used, or its tables are of another version.
    """
    engine = open_database(address, for_writing=False)
    try:
        with reading(engine) as connection:
            listed = TaskList.model_validate_json(rendering.list_json(connection, job=job)).tasks
            rows = [rendering.find_task(connection, TaskKey(t.workspace, t.job, t.step, t.task)) for t in listed]
            texts = [rendering.task_json(row, rendering.metrics_json(connection, row)) for row in rows if row]
    finally:
        engine.dispose()
    return [Task.model_validate_json(text) for text in texts]


def tasks_at_service(url: str, job: str, token: str | None) -> list[Task]:
    """As `tasks_in_database`, from the service at a base URL.

    Raises:
        SourceError: If it cannot be reached, refuses, or answers something else.
    """
    headers = {b"authorization": f"Bearer {token}".encode()} if token else {}
    base = url.rstrip("/")
    try:
        with httpx.Client(headers=headers, timeout=_TIMEOUT_S) as client:
            listed = _answered(client, f"{base}/apis/jobs/v2/jobs", TaskList, params={"job": job}).tasks
            paths = [f"workspaces/{t.workspace}/jobs/{t.job}/steps/{t.step}/tasks/{t.task}" for t in listed]
            return [_answered(client, f"{base}/apis/jobs/v2/{path}", Task) for path in paths]
    except (httpx.RequestError, httpx.InvalidURL) as error:
        raise SourceError(f"cannot reach {url}: {error}") from None


def _answered(client: httpx.Client, url: str, model: type[Model], params: dict[str, str] | None = None) -> Model:
    answer = client.get(url, params=params)
    try:
        if answer.status_code != HTTPStatus.OK:
            raise SourceError(
                f"{url} answered {answer.status_code}: {Refusal.model_validate_json(answer.text).message}"
            )
        return model.model_validate_json(answer.text)
    except ValidationError:
        raise SourceError(f"{url} answered {answer.status_code} with something that is no Jobs service's") from None
