"""The routes of the wire: one task is created or updated, read, and appended to; all tasks are listed."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Response
from starlette.exceptions import HTTPException

from impl.metrics_wire.service import rendering, schemas, store
from impl.metrics_wire.service.database import reading
from impl.metrics_wire.service.strict_json import strict_route

if TYPE_CHECKING:
    from sqlalchemy import Engine, Row

    from impl.metrics_wire.service.commits import Commits
    from impl.metrics_wire.service.settings import Settings

JOBS = "/apis/jobs/v2/jobs"
TASK = "/apis/jobs/v2/workspaces/{workspace}/jobs/{job}/steps/{step}/tasks/{task}"

_Id = Annotated[str, Path(pattern=schemas.ID_PATTERN)]
_IfNoneMatch = Annotated[str | None, Header(description="Entity tags that the client has")]

_WHY = {
    HTTPStatus.BAD_REQUEST: "The body is not strict JSON",
    HTTPStatus.UNAUTHORIZED: "The token is missing or wrong",
    HTTPStatus.NOT_FOUND: "There is no such task",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body is not declared as JSON",
    HTTPStatus.UNPROCESSABLE_ENTITY: "A field is wrong; the message names it",
    HTTPStatus.SERVICE_UNAVAILABLE: "The database is unavailable; try again",
}


def _key(workspace: _Id, job: _Id, step: _Id, task: _Id) -> store.TaskKey:
    return store.TaskKey(workspace, job, step, task)


_Key = Annotated[store.TaskKey, Depends(_key)]


def task_routes(engine: Engine, commits: Commits, settings: Settings) -> APIRouter:
    """The routes over one database."""
    always = {HTTPStatus.SERVICE_UNAVAILABLE} | ({HTTPStatus.UNAUTHORIZED} if settings.token else set())

    def refusals(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
        return {
            int(status): {"model": schemas.Refusal, "description": _WHY[status]}
            for status in sorted({*statuses, *always})
        }

    body = (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
    unchanged: dict[int | str, dict[str, Any]] = {304: {"description": "The client has it already"}}
    router = APIRouter(route_class=strict_route(settings.max_body))

    @router.put(TASK, response_model=schemas.TaskState, responses=refusals(*body, HTTPStatus.UNPROCESSABLE_ENTITY))
    async def update_task(key: _Key, sent: schemas.TaskUpdate) -> Response:
        """Create a task or update it. The answer leaves its series out, which may be long."""
        row: Row[Any] = await asyncio.wrap_future(
            commits.submit(lambda connection: store.update_task(connection, key, sent, settings.rule))
        )
        return _json(rendering.task_json(row), {"etag": rendering.etag(row)})

    @router.post(
        f"{TASK}/metrics",
        response_model=schemas.Appended,
        responses=refusals(*body, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY),
    )
    async def append_points(key: _Key, sent: schemas.Append) -> Response:
        """Add points to series of a task. A point takes the place of one of the same series and step."""
        try:
            revision = await asyncio.wrap_future(
                commits.submit(lambda connection: store.append(connection, key, sent.metrics))
            )
        except store.NoSuchTaskError:
            raise _no_such_task(key) from None
        return _json(f'{{"revision": {revision}}}')

    @router.get(
        TASK,
        response_model=schemas.Task,
        responses={**unchanged, **refusals(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)},
    )
    def read_task(key: _Key, if_none_match: _IfNoneMatch = None) -> Response:
        """A task with its series, steps ascending."""
        with reading(engine) as connection:
            row = rendering.find_task(connection, key)
            if row is None:
                raise _no_such_task(key)
            tag = {"etag": rendering.etag(row)}
            if _has(if_none_match, tag["etag"]):
                return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=tag)
            return _json(rendering.task_json(row, rendering.metrics_json(connection, row)), tag)

    @router.get(
        JOBS, response_model=schemas.TaskList, responses={**unchanged, **refusals(HTTPStatus.UNPROCESSABLE_ENTITY)}
    )
    def list_tasks(filters: Annotated[schemas.TaskFilter, Query()], if_none_match: _IfNoneMatch = None) -> Response:
        """The tasks of all jobs, or of those asked for, the one that was written last first."""
        with reading(engine) as connection:
            text = rendering.list_json(connection, filters.workspace, filters.job)
        tag = {"etag": rendering.etag_of(text)}
        if _has(if_none_match, tag["etag"]):
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=tag)
        return _json(text, tag)

    return router


def _json(text: str, headers: dict[str, str] | None = None) -> Response:
    return Response(text, media_type="application/json", headers={"cache-control": "no-cache", **(headers or {})})


def _has(if_none_match: str | None, tag: str) -> bool:
    tags = {each.strip().removeprefix("W/") for each in (if_none_match or "").split(",")}
    return tag in tags or "*" in tags


def _no_such_task(key: store.TaskKey) -> HTTPException:
    return HTTPException(HTTPStatus.NOT_FOUND, f"task: {key.task} of step {key.step} of job {key.job} does not exist")
