"""The routes of a task: it is created or updated, read, and its series are appended to."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Response
from starlette.exceptions import HTTPException

from impl.metrics_wire.service import answers, rendering, schemas, store
from impl.metrics_wire.service.database import reading
from impl.metrics_wire.service.strict_json import strict_route

if TYPE_CHECKING:
    from sqlalchemy import Engine, Row

    from impl.metrics_wire.service.commits import Commits
    from impl.metrics_wire.service.settings import Settings

TASK = "/apis/jobs/v2/workspaces/{workspace}/jobs/{job}/steps/{step}/tasks/{task}"

_Id = Annotated[str, Path(pattern=schemas.ID_PATTERN)]


def _key(workspace: _Id, job: _Id, step: _Id, task: _Id) -> store.TaskKey:
    return store.TaskKey(workspace, job, step, task)


_Key = Annotated[store.TaskKey, Depends(_key)]


def task_routes(engine: Engine, commits: Commits, settings: Settings) -> APIRouter:
    """The routes over one database."""
    router = APIRouter(route_class=strict_route(settings.max_body))
    token = settings.token

    @router.put(TASK, response_model=schemas.TaskState, responses=answers.refusals(*answers.OF_BODIES, token=token))
    async def update_task(key: _Key, sent: schemas.TaskUpdate) -> Response:
        """Create a task or update it. The answer leaves its series out, which may be long."""
        row: Row[Any] = await asyncio.wrap_future(
            commits.submit(lambda connection: store.update_task(connection, key, sent, settings.rule))
        )
        return answers.json_answer(rendering.task_json(row), rendering.etag(row))

    @router.post(
        f"{TASK}/metrics",
        response_model=schemas.Appended,
        responses=answers.refusals(*answers.OF_BODIES, HTTPStatus.NOT_FOUND, token=token),
    )
    async def append_points(key: _Key, sent: schemas.Append) -> Response:
        """Add points to series of a task. A point takes the place of one of the same series and step."""
        try:
            revision = await asyncio.wrap_future(
                commits.submit(lambda connection: store.append(connection, key, sent.metrics))
            )
        except store.NoSuchTaskError:
            raise _no_such_task(key) from None
        return answers.json_answer(f'{{"revision": {revision}}}')

    @router.get(
        TASK,
        response_model=schemas.Task,
        responses=answers.UNCHANGED
        | answers.refusals(HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY, token=token),
    )
    def read_task(key: _Key, if_none_match: Annotated[str | None, Header()] = None) -> Response:
        """A task with its series, steps ascending."""
        with reading(engine) as connection:
            row = rendering.find_task(connection, key)
            if row is None:
                raise _no_such_task(key)
            tag = rendering.etag(row)
            if answers.has_tag(if_none_match, tag):
                return answers.not_modified(tag)
            return answers.json_answer(rendering.task_json(row, rendering.metrics_json(connection, row)), tag)

    return router


def _no_such_task(key: store.TaskKey) -> HTTPException:
    return HTTPException(HTTPStatus.NOT_FOUND, f"task: {key.task} of step {key.step} of job {key.job} does not exist")
