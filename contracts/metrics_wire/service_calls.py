"""Calls drawn from the OpenAPI document that a Jobs service serves, and its answers held against that document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from hypothesis import strategies as st
from schemathesis.generation import GenerationMode

from contracts.served_document import ServedDocument, drawn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypothesis.strategies import SearchStrategy

    from contracts.metrics_wire.protocols import JobsService, ServiceAnswer

#: The routes of a task, with a place for each id.
TASK_ROUTE = "/apis/jobs/v2/workspaces/{}/jobs/{}/steps/{}/tasks/{}"
_PLACE = re.compile(r"{[^}]*}")


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
    return {
        _PLACE.sub("{}", path): operations for path, operations in ServedDocument.of(service).content["paths"].items()
    }


def route_of(service: JobsService, route: str) -> str | None:
    """The path as the document lists it, ``None`` if it does not."""
    return next((path for path in ServedDocument.of(service).content["paths"] if _PLACE.sub("{}", path) == route), None)


def drawn_calls(service: JobsService) -> SearchStrategy[ApiCall]:
    """Calls to every operation of the served document: allowed ones, and ones that break the schema of body or path.

    Half of them go to the task that the check has written.
    """
    found = []
    for operation in ServedDocument.of(service).operations():
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
    places = {place[1:-1]: "x" for place in _PLACE.findall(route)}
    return ServedDocument.of(service).departures(method, route, answer, places=places)


def _as_call(case: Any, own: bool) -> ApiCall:  # noqa: FBT001 - drawn
    mode = GenerationMode.NEGATIVE
    broken = {str(kind) for kind, part in case.meta.components.items() if part.mode is mode} if case.meta else set()
    sent = drawn(case)
    places = [place[1:-1] for place in _PLACE.findall(case.operation.path)]
    parameters = case.path_parameters or {}
    return ApiCall(
        method=case.operation.method.upper(),
        route=case.operation.path,
        # Schemathesis has quoted what it drew.
        ids=()
        if own
        else tuple(quote(str(parameters.get(place, "x")), safe="%", errors="replace") for place in places),
        query=sent.query,
        content_type=sent.content_type,
        body=sent.body,
        allowed=not any("body" in part.lower() for part in broken),
    )
