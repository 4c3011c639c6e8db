"""Calls drawn from the OpenAPI document that an endpoint serves, and its answers held against that document."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

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

from contracts.gym_overflow.beneath import PerEndpoint
from contracts.gym_overflow.probe import Route

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from contracts.gym_overflow.protocols import Answer, Endpoint

DOCUMENT = "/openapi.json"
#: The routes that are called. A served document may list others, which load, scale or stop a server.
ROUTES = frozenset({"/v1/models", "/tokenize", *Route})
_CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


@dataclass(frozen=True)
class ApiCall:
    """One request, as the document allows or forbids it.

    Attributes:
        method: HTTP method.
        path: Path as the document lists it.
        query: Query parameters.
        content_type: Of the body, ``None`` without one.
        body: The body as text, ``None`` without one.
        allowed: Whether the document allows it.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    content_type: str | None = None
    body: str | None = None
    allowed: bool = True


def drawn_calls(endpoint: Endpoint) -> SearchStrategy[ApiCall]:
    """Calls to `ROUTES` as the served document describes them: allowed ones, and ones that break a body's schema."""
    found = []
    operations = [result.ok() for result in _schema(endpoint).get_all_operations()]
    # Those without a body have only one call, which is drawn first or hardly ever.
    for operation in sorted(operations, key=lambda operation: bool(operation.body)):
        if operation.path not in ROUTES:
            continue
        modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE) if operation.body else (GenerationMode.POSITIVE,)
        found += [operation.as_strategy(generation_mode=mode).map(_as_call) for mode in modes]
    return st.one_of(found)


def call(endpoint: Endpoint, case: ApiCall) -> Answer:
    """Send the call."""
    path = f"{case.path}?{urlencode(case.query)}" if case.query else case.path
    headers = {"content-type": case.content_type} if case.content_type else None
    content = None if case.body is None else case.body.encode(errors="surrogatepass")
    return endpoint.request(case.method, path, content=content, headers=headers)


def departures(endpoint: Endpoint, case: ApiCall, answer: Answer) -> list[str]:
    """Every way in which the answer departs from the document; empty if it conforms."""
    operation = _schema(endpoint)[case.path][case.method]
    request = requests.Request(case.method, f"http://127.0.0.1{case.path}").prepare()
    response = Response(
        answer.status, {key: [value] for key, value in answer.headers.items()}, answer.body, request, 0.0, verify=False
    )
    try:
        operation.Case(method=case.method).validate_response(response, checks=list(_CHECKS))
    except FailureGroup as group:
        return [_line(failure) for failure in group.exceptions]
    except Failure as failure:
        return [_line(failure)]
    return []


def _schema(endpoint: Any) -> Any:
    return _schemas.of(endpoint)


def _served_schema(endpoint: Any) -> Any:
    answer = endpoint.request("GET", DOCUMENT)
    return schemathesis.openapi.from_dict(json.loads(answer.body))


_schemas = PerEndpoint(_served_schema)


def _as_call(case: Any) -> ApiCall:
    sent = case.as_transport_kwargs(base_url="http://127.0.0.1")
    body = None
    if "json" in sent:
        body = json.dumps(sent["json"])
    elif isinstance(sent.get("data"), bytes):
        body = sent["data"].decode(errors="replace")
    return ApiCall(
        method=case.operation.method.upper(),
        path=case.operation.path,
        query=tuple((str(key), str(value)) for key, value in (sent.get("params") or {}).items()),
        content_type=None if body is None else sent["headers"].get("Content-Type"),
        body=body,
        allowed=case.meta is None or case.meta.generation.mode is GenerationMode.POSITIVE,
    )


def _line(failure: BaseException) -> str:
    title = getattr(failure, "title", type(failure).__name__)
    return " ".join(f"{title}: {getattr(failure, 'message', failure)}".split())
