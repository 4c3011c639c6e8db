"""The routes that are about no single task: the list of all tasks, and whether the service is well."""

from __future__ import annotations

import hashlib
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Header, Query, Response
from sqlalchemy import select

from impl.metrics_wire.service import answers, rendering, schemas
from impl.metrics_wire.service.database import reading

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from impl.metrics_wire.service.settings import Settings

JOBS = "/apis/jobs/v2/jobs"


def overview_routes(engine: Engine, settings: Settings) -> APIRouter:
    """The routes over one database."""
    router = APIRouter()

    @router.get(
        JOBS,
        response_model=schemas.TaskList,
        responses=answers.UNCHANGED | answers.refusals(HTTPStatus.UNPROCESSABLE_ENTITY, token=settings.token),
    )
    def list_tasks(
        filters: Annotated[schemas.TaskFilter, Query()], if_none_match: Annotated[str | None, Header()] = None
    ) -> Response:
        """The tasks of all jobs, or of those asked for, the one that was written last first."""
        with reading(engine) as connection:
            text = rendering.list_json(connection, filters.workspace, filters.job)
        tag = f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
        return answers.not_modified(tag) if answers.has_tag(if_none_match, tag) else answers.json_answer(text, tag)

    @router.get("/healthz", response_model=schemas.Health, responses=answers.refusals(token=settings.token))
    def health() -> Response:
        """Whether the service and its database answer."""
        with reading(engine) as connection:
            connection.execute(select(1))
        return answers.json_answer('{"status": "ok"}')

    return router
