"""Calls drawn from the OpenAPI document that a Jobs service serves, and its answers held against that document."""

from __future__ import annotations

import json
import re
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import requests
import schemathesis
from hypothesis import strategies as st
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.core.transport import Response
from schemathesis.generation import GenerationMode

from contracts.mutant import Wrapper

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypothesis.strategies import SearchStrategy

    from contracts.metrics_wire.protocols import JobsService, ServiceAnswer

DOCUMENT = "/openapi.json"
#: The routes of a task, with a place for each id.
TASK_ROUTE = "/apis/jobs/v2/workspaces/{}/jobs/{}/steps/{}/tasks/{}"
_CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
_PLACE = re.compile(r"{[^}]*}")
_BASE = "http://127.0.0.1"


@dataclass(frozen=True)
class ApiCall:
    """One request, as the document allows or forbids it.

    Attributes:
        method: HTTP method.
        route: Path as the document lists it, with its places.
        ids: What its places hold, quoted; empty for those of the task that the check has written.
        query: Query parameters.
        content_type: Of the body, ``None`` without one.
        body: The body as text, ``None`` without one.
        allowed: Whether the document allows the body.
    """

    method: str
    route: str
    ids: tuple[str, ...] = ()
    query: tuple[tuple[str, str], ...] = ()
    content_type: str | None = None
    body: str | None = None
    allowed: bool = True

    def path(self, own: str) -> str:
        """Path and query of the request; ``own`` is the path of the task that the check has written."""
        ids = self.ids or tuple(own.split("/")[5::2])
        places = iter(ids)
        path = _PLACE.sub(lambda _: next(places, "x"), self.route)
        return f"{path}?{urlencode(self.query)}" if self.query else path


def routes(service: JobsService) -> dict[str, dict[str, Any]]:
    """The paths of the served document, each with every place empty, to their operations."""
    return {_PLACE.sub("{}", path): operations for path, operations in _document(service)["paths"].items()}


def route_of(service: JobsService, route: str) -> str | None:
    """The path as the document lists it, ``None`` if it does not."""
    return next((path for path in _document(service)["paths"] if _PLACE.sub("{}", path) == route), None)


def drawn_calls(service: JobsService) -> SearchStrategy[ApiCall]:
    """Calls to every operation of the served document: allowed ones, and ones that break the schema of body or path.

    Half of them go to the task that the check has written.
    """
    found = []
    for operation in (result.ok() for result in _schema(service).get_all_operations()):
        own = st.booleans() if _PLACE.sub("{}", operation.path).startswith(TASK_ROUTE) else st.just(value=False)
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            if mode is GenerationMode.NEGATIVE and not (operation.body or operation.path_parameters):
                continue
            found.append(st.builds(_as_call, operation.as_strategy(generation_mode=mode), own))
    return st.one_of(found)


def call(service: JobsService, case: ApiCall, own: str, headers: Mapping[str, str] | None = None) -> ServiceAnswer:
    """Send the call; ``own`` is the path of the task that the check has written."""
    sent = dict(headers or {}) | ({"content-type": case.content_type} if case.content_type else {})
    content = None if case.body is None else case.body.encode(errors="surrogatepass")
    return service.request(case.method, case.path(own), content=content, headers=sent)


def departures(service: JobsService, method: str, route: str, answer: ServiceAnswer) -> list[str]:
    """Every way in which the answer departs from the document; empty if it conforms.

    Args:
        service: The service.
        method: HTTP method of the request.
        route: Its path as the document lists it.
        answer: The answer.
    """
    operation = _schema(service)[route][method]
    request = requests.Request(method, f"{_BASE}{route}").prepare()
    headers = {key: [value] for key, value in answer.headers.items()}
    response = Response(answer.status, headers, answer.body, request, 0.0, verify=False)
    try:
        places = {place[1:-1]: "x" for place in _PLACE.findall(route)}
        operation.Case(method=method, path_parameters=places).validate_response(response, checks=list(_CHECKS))
    except FailureGroup as group:
        return [_line(failure) for failure in group.exceptions]
    except Failure as failure:
        return [_line(failure)]
    return []


def _as_call(case: Any, own: bool) -> ApiCall:  # noqa: FBT001 - drawn
    mode = GenerationMode.NEGATIVE
    broken = {str(kind) for kind, part in case.meta.components.items() if part.mode is mode} if case.meta else set()
    sent = case.as_transport_kwargs(base_url=_BASE)
    body = None
    if "json" in sent:
        body = json.dumps(sent["json"])
    elif isinstance(sent.get("data"), bytes):
        body = sent["data"].decode(errors="replace")
    places = [place[1:-1] for place in _PLACE.findall(case.operation.path)]
    parameters = case.path_parameters or {}
    return ApiCall(
        method=case.operation.method.upper(),
        route=case.operation.path,
        # Schemathesis has quoted what it drew.
        ids=()
        if own
        else tuple(quote(str(parameters.get(place, "x")), safe="%", errors="replace") for place in places),
        query=tuple((str(key), str(value)) for key, value in (sent.get("params") or {}).items()),
        content_type=None if body is None else sent["headers"].get("Content-Type"),
        body=body,
        allowed=not any("body" in part.lower() for part in broken),
    )


def _line(failure: BaseException) -> str:
    title = getattr(failure, "title", type(failure).__name__)
    return " ".join(f"{title}: {getattr(failure, 'message', failure)}".split())


#: The document of each service and what schemathesis made of it, by the identity of the service beneath any mutant.
_read: dict[int, tuple[dict[str, Any], Any]] = {}


def _document(service: JobsService) -> dict[str, Any]:
    return _known(service)[0]


def _schema(service: JobsService) -> Any:
    return _known(service)[1]


def _known(service: Any) -> tuple[dict[str, Any], Any]:
    while isinstance(service, Wrapper):
        service = service.inner
    if id(service) not in _read:
        document = json.loads(service.request("GET", DOCUMENT).body)
        _read[id(service)] = document, schemathesis.openapi.from_dict(document)
        weakref.finalize(service, _read.pop, id(service), None)
    return _read[id(service)]
