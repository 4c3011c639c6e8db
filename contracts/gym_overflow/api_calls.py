"""Calls drawn from the OpenAPI document that an endpoint serves, and its answers held against that document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from hypothesis import strategies as st
from schemathesis.generation import GenerationMode

from contracts.gym_overflow.probe import Route
from contracts.served_document import ServedDocument, drawn

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from contracts.answer import Answer
    from contracts.gym_overflow.protocols import Endpoint

#: The routes that are called. A served document may list others, which load, scale or stop a server.
ROUTES = frozenset({"/v1/models", "/tokenize", *Route})


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
    # Those without a body have only one call, which is drawn first or hardly ever.
    for operation in sorted(ServedDocument.of(endpoint).operations(), key=lambda operation: bool(operation.body)):
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
    return ServedDocument.of(endpoint).departures(case.method, case.path, answer)


def _as_call(case: Any) -> ApiCall:
    sent = drawn(case)
    return ApiCall(
        method=case.operation.method.upper(),
        path=case.operation.path,
        query=sent.query,
        content_type=sent.content_type,
        body=sent.body,
        allowed=case.meta is None or case.meta.generation.mode is GenerationMode.POSITIVE,
    )
