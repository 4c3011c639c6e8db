"""The pages that a person looks at: the list of jobs, the curves of a task, and its values as tables.

A page asks for nothing beyond the service that it came from, and its policy forbids it to. Ids, names of series and
everything else that a client has sent are text wherever they appear.
"""

from __future__ import annotations

import hashlib
import json
import mimetypes
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

import jinja2
from fastapi import APIRouter, Depends, Path, Request, Response

from impl.metrics_wire.service import rendering, schemas
from impl.metrics_wire.service.database import reading
from impl.metrics_wire.service.store import TaskKey

if TYPE_CHECKING:
    from sqlalchemy import Engine

_HERE = FilePath(__file__).parent
_TASK = "/workspaces/{workspace}/jobs/{job}/steps/{step}/tasks/{task}"
_API = "/apis/jobs/v2"
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    # Kept, but asked for each time: a page and its scripts are of one version.
    "cache-control": "no-cache",
}

_Id = Annotated[str, Path(pattern=schemas.ID_PATTERN)]

_ASSETS = {asset.name: asset.read_bytes() for asset in (_HERE / "assets").iterdir()}
_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(_HERE / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
)
_TEMPLATES.globals["path"] = _TASK.format_map
_TEMPLATES.globals["moment"] = lambda time: f"{datetime.fromisoformat(time).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _key(workspace: _Id, job: _Id, step: _Id, task: _Id) -> TaskKey:
    return TaskKey(workspace, job, step, task)


_Key = Annotated[TaskKey, Depends(_key)]


def page_routes(engine: Engine) -> APIRouter:
    """The routes of the pages over one database."""
    router = APIRouter(include_in_schema=False)

    def listed(workspace: str | None = None, job: str | None = None) -> list[dict[str, Any]]:
        with reading(engine) as connection:
            tasks: list[dict[str, Any]] = json.loads(rendering.list_json(connection, workspace, job))["tasks"]
        return tasks

    @router.get("/")
    def jobs_page(request: Request) -> Response:
        return _rendered(request, "jobs", tasks=listed())

    @router.get(_TASK)
    def task_page(request: Request, key: _Key) -> Response:
        tasks = listed(key.workspace, key.job)
        task = next((each for each in tasks if (each["step"], each["task"]) == (key.step, key.task)), None)
        if task is None:
            return _missing(request, key)
        others = [each for each in tasks if each is not task]
        return _rendered(request, "task", task=task, others=others, source=_API + _TASK.format_map(task))

    @router.get(f"{_TASK}/values")
    def values_page(request: Request, key: _Key) -> Response:
        with reading(engine) as connection:
            row = rendering.find_task(connection, key)
            if row is None:
                return _missing(request, key)
            task = json.loads(rendering.task_json(row, rendering.metrics_json(connection, row)))
        return _rendered(request, "values", task=task, metrics=task["status_details"].get("metrics", {}))

    router.add_api_route("/assets/{name}", _asset)
    return router


def _rendered(request: Request, template: str, status: HTTPStatus = HTTPStatus.OK, **context: Any) -> Response:
    root = request.scope.get("root_path", "").rstrip("/")
    text = _TEMPLATES.get_template(f"{template}.html.jinja").render(root=root, **context)
    return _answer(request, text.encode(), "text/html; charset=utf-8", status)


def _missing(request: Request, key: TaskKey) -> Response:
    place = f"{key.workspace} / {key.job} / {key.step} / {key.task}"
    return _rendered(request, "missing", HTTPStatus.NOT_FOUND, place=place)


def _asset(request: Request, name: str) -> Response:
    if name not in _ASSETS:
        return Response(status_code=HTTPStatus.NOT_FOUND, headers=_HEADERS)
    return _answer(request, _ASSETS[name], _media_type(name))


def _answer(request: Request, content: bytes, media_type: str, status: HTTPStatus = HTTPStatus.OK) -> Response:
    headers = {**_HEADERS, "etag": f'"{hashlib.sha256(content).hexdigest()[:32]}"'}
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(content, status, headers, media_type)


def _media_type(name: str) -> str:
    # The table of the machine may call scripts otherwise, and a browser would not run them.
    if name.endswith(".js"):
        return "text/javascript; charset=utf-8"
    return mimetypes.guess_type(name)[0] or "application/octet-stream"
