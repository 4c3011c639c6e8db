"""96x: the served document and the service say the same."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from contracts.metrics_wire.bad_requests import BAD_APPENDS, BAD_UPDATES
from contracts.metrics_wire.service_calls import TASK_ROUTE, ApiCall, call, departures, drawn_calls, route_of
from contracts.metrics_wire.service_cases import Kind
from contracts.metrics_wire.service_checks.refusing import written_task
from contracts.metrics_wire.service_task import JSON, Task, is_acknowledged, is_refused, shown, strict_json
from contracts.metrics_wire.sides import service
from contracts.metrics_wire.sources import jobs
from contracts.served_document import DOCUMENT

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import JobsService, ServiceAnswer

_DOCUMENT = jobs("the routes, the bodies and the answers, refusals included, are served as an OpenAPI document")
_APPEND_ROUTE = f"{TASK_ROUTE}/metrics"


@service.check("MW-961", source=_DOCUMENT, requires={"openapi"})
def every_route_is_documented(check: Check[JobsService], adapter: JobsService) -> None:
    """The served document is OpenAPI 3 and lists the routes of a task, each with its refusals.

    Why: what the document leaves out is what no client was written for.

    Usual cause: a route that is mounted beside the application, or an error that is raised past the framework.
    """
    answer = adapter.request("GET", DOCUMENT)
    if answer.status != HTTPStatus.OK:
        raise check.fail("the document is not served", got=shown(answer), want=200)
    document = strict_json(answer.body)
    if not str(document.get("openapi")).startswith("3."):
        raise check.fail("the document is no OpenAPI 3", got=document.get("openapi"), want="3.x")
    wanted = {("get", TASK_ROUTE), ("put", TASK_ROUTE)}
    if "append" in adapter.capabilities:
        wanted.add(("post", _APPEND_ROUTE))
    for method, route in sorted(wanted):
        listed = document["paths"].get(route_of(adapter, route) or "", {}).get(method)
        if listed is None:
            raise check.fail("a route is not documented", got=sorted(document["paths"]), want=f"{method} {route}")
        if not any(status.startswith("4") for status in listed["responses"]):
            raise check.fail("no refusal of a route is documented", got=sorted(listed["responses"]), want="a 4xx")


@service.check(
    "MW-962",
    source=_DOCUMENT,
    requires={"openapi"},
    examples=(
        ApiCall("GET", TASK_ROUTE),
        ApiCall("PUT", TASK_ROUTE, content_type="application/json", body='{"status": "error"}'),
        ApiCall("PUT", TASK_ROUTE, content_type="application/json", body='{"status": "done"}', allowed=False),
    ),
    cases_for=drawn_calls,
    limit_s=3600,
)
def document_and_service_agree(check: Check[JobsService], adapter: JobsService, case: ApiCall) -> None:
    """Every request is answered as documented, a forbidden body is refused, and what is refused changes nothing.

    Why: an answer outside the document is one that no client was written for, and a lax field is a fault that travels.

    Usual cause: models that coerce types, answers that the framework adds, and work that is done before it is checked.
    """
    own = written_task(check, adapter)
    route = route_of(adapter, case.route) or case.route
    before, read_before = own.stored, _read_at(adapter, case, own)
    answer = call(adapter, case, own.path)
    if found := departures(adapter, case.method, route, answer):
        raise check.fail(
            f"{case.method} {case.route} is not answered as documented: {found[0]}",
            got=shown(answer),
            want="an answer that the document describes",
            departures=found,
        )
    if not case.allowed and not is_refused(answer):
        raise check.fail("a body that the document forbids was taken", got=shown(answer), want="a 4xx")
    if is_acknowledged(answer):
        return
    own.hold(before, "a request that was refused changed a task", answer=shown(answer))
    if (read_after := _read_at(adapter, case, own)) != read_before:
        raise check.fail("a request that was refused changed what its path reads", got=read_after, want=read_before)


def _read_at(adapter: JobsService, case: ApiCall, own: Task) -> tuple[int, bytes]:
    """What the task in the path of a call reads as, or how it is refused."""
    answer = adapter.request("GET", case.path(own.path).partition("?")[0].removesuffix("/metrics"))
    return answer.status, answer.body


@service.check(
    "MW-963",
    source=_DOCUMENT,
    requires={"openapi"},
    examples=tuple(
        Kind(f"{method} {kind}") for method, bad in (("PUT", BAD_UPDATES), ("POST", BAD_APPENDS)) for kind in bad
    ),
)
def refusals_are_documented(check: Check[JobsService], adapter: JobsService, case: Kind) -> None:
    """The refusal of every mistake is one that the document describes, in status, type and shape.

    Why: a client reads the reason of a refusal by the document, or shows none.

    Usual cause: a body that cannot be parsed is answered before the application's own error handler runs.
    """
    method, _, kind = case.kind.partition(" ")
    if method == "POST" and "append" not in adapter.capabilities:
        return
    bad = (BAD_APPENDS if method == "POST" else BAD_UPDATES)[kind]
    template = _APPEND_ROUTE if method == "POST" else TASK_ROUTE
    task = written_task(check, adapter)
    answer: ServiceAnswer = task.send(
        method, bad.body, suffix="/metrics" if method == "POST" else "", headers=JSON | dict(bad.headers)
    )
    route = route_of(adapter, template)
    found = departures(adapter, method, route, answer) if route else ["the route is not in the document"]
    if found:
        raise check.fail(
            f"a refusal is not documented: {found[0]}", got=shown(answer), want="as documented", departures=found
        )
