"""97x: with a token, nobody is answered who does not know it."""

from __future__ import annotations

import base64
import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_cases import Kind
from contracts.metrics_wire.service_task import JSON, Task, is_refused, point, shown
from contracts.metrics_wire.sides import service
from contracts.metrics_wire.sources import jobs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.check import Check
    from contracts.metrics_wire.protocols import GuardedService, JobsService

_TOKEN = jobs("a service that has a token answers no request that does not carry it")
_DENIED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_PATHS = (
    *("/", "/openapi.json", "/docs", "/redoc", "/nope", "/apis", "/favicon.ico", "/static/x", "/assets/x", "/health"),
    *("/apis/jobs/v2/workspaces/default/jobs", "/%2e%2e/openapi.json", "//openapi.json", "/openapi.json/"),
)
_METHODS = ("GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE")


def bearer(token: str) -> dict[str, str]:
    """The header that carries the token."""
    return {"authorization": f"Bearer {token}"}


def _credentials(token: str) -> dict[str, Mapping[str, str]]:
    basic = base64.b64encode(b"user:another").decode()
    return {
        "none": {},
        "empty": {"authorization": ""},
        "no token": {"authorization": "Bearer"},
        "another": bearer("another"),
        "a part of it": bearer(token[:-1]),
        "more than it": bearer(f"{token}x"),
        "it in capitals": bearer(token.swapcase()),
        "it without a scheme": {"authorization": token},
        "another as Basic": {"authorization": f"Basic {basic}"},
        "it in a cookie": {"cookie": f"token={token}; authorization=Bearer {token}"},
    }


@service.check("MW-971", source=_TOKEN, requires={"token"}, examples=tuple(map(Kind, _credentials("t"))))
def no_route_answers_without_the_token(check: Check[JobsService], adapter: JobsService, case: Kind) -> None:
    """With a token configured no path and no method answers a request that does not carry it, and none changes a thing.

    Why: the service holds what a company trains, and one route that forgot to ask is enough.

    Usual cause: the token is a dependency of single routes, so the document, the pages and a 404 answer anyone.
    """
    guarded = adapter.guarded()
    task = _written(check, guarded)
    before = task.stored
    headers = _credentials(guarded.token)[case.kind]
    update, append = b'{"status": "error"}', json.dumps({"metrics": {"train_loss": [point(9, 9)]}}).encode()
    methods = _METHODS if case.kind == "none" else ("GET", "PUT")
    asked = [(method, path, update) for path in (*_PATHS, task.path) for method in methods]
    asked += [("POST", f"{task.path}/metrics", append), ("PUT", Task(check, guarded).path, update)]
    for method, path, body in asked:
        content = body if method in {"PUT", "POST", "PATCH"} else None
        sent = {**(JSON if content else {}), **headers}
        answer = guarded.request(method, path, content=content, headers=sent)
        if answer.status not in _DENIED:
            raise check.fail(
                "a route answers without the token", got=shown(answer), want="401", asked=f"{method} {path}"
            )
    task.hold(before, "a request without the token changed a task")


@service.check("MW-972", source=_TOKEN, requires={"token"})
def who_has_the_token_is_served(check: Check[JobsService], adapter: JobsService) -> None:
    """A request that carries the token is answered as it is where there is none, refusals included.

    Why: a guard that changes the answers is found out in production only.

    Usual cause: the guard answers every error with its own.
    """
    guarded = adapter.guarded()
    task = _written(check, guarded)
    task.hold({"status": "active", "status_details": {"phase": "training"}}, "a task is not stored behind the token")
    answer = task.put({"status": "done"})
    if not is_refused(answer) or answer.status in _DENIED:
        raise check.fail("a mistake behind the token is answered as another", got=shown(answer), want="a 4xx")
    absent = Task(check, guarded, headers=bearer(guarded.token))
    absent.hold(None, "a task that nobody has written is there")


@service.check("MW-973", source=_TOKEN, requires={"token"})
def a_denial_tells_nothing(check: Check[JobsService], adapter: JobsService) -> None:
    """Without the token a task that exists and one that does not are denied alike, and the token is nowhere in it.

    Why: whoever may not read a job may not learn which jobs there are.

    Usual cause: the task is looked up before the token, or the message quotes what was expected.
    """
    guarded = adapter.guarded()
    there, absent = _written(check, guarded), Task(check, guarded)
    denials: list[tuple[Any, ...]] = []
    for path in (there.path, absent.path):
        answer = guarded.request("GET", path, headers=bearer("another"))
        denials.append((answer.status, answer.body.replace(path.encode(), b"...")))
        if guarded.token.encode() in answer.body or any(guarded.token in each for each in answer.headers.values()):
            raise check.fail("a denial tells the token", got=shown(answer), want="a denial without it")
    if denials[0] != denials[1]:
        raise check.fail("a denial tells which tasks there are", got=denials[0], want=denials[1])


def _written(check: Check[JobsService], guarded: GuardedService) -> Task:
    task = Task(check, guarded, headers=bearer(guarded.token))
    task.write(status="active", status_details={"phase": "training"})
    return task
