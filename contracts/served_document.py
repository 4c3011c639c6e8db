"""An OpenAPI document as a server serves it: calls drawn from it, and answers held against it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import requests
import schemathesis
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.core.transport import Response

from contracts.beneath import PerAdapter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from contracts.answer import Answer

#: Where a server serves it.
DOCUMENT = "/openapi.json"
_BASE = "http://127.0.0.1"
_CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


class ServedDocument:
    """The document of one server.

    Attributes:
        content: The document.
    """

    def __init__(self, server: Any) -> None:
        """Read the document.

        Args:
            server: An adapter with ``request(method, path)``.
        """
        self.content: dict[str, Any] = json.loads(server.request("GET", DOCUMENT).body)
        self._schema: Any = schemathesis.openapi.from_dict(self.content)

    @classmethod
    def of(cls, server: Any) -> ServedDocument:
        """The document of the server beneath any mutant, read once."""
        return _documents.of(server)

    def operations(self) -> Iterator[Any]:
        """Every operation, as schemathesis has it."""
        return (result.ok() for result in self._schema.get_all_operations())

    def departures(
        self, method: str, path: str, answer: Answer, *, places: Mapping[str, str] | None = None
    ) -> list[str]:
        """Every way in which an answer departs from the document; empty if it conforms.

        Args:
            method: HTTP method of the request.
            path: Its path as the document lists it.
            answer: The answer.
            places: What the places of the path held.
        """
        operation = self._schema[path][method]
        request = requests.Request(method, f"{_BASE}{path}").prepare()
        headers = {key: [value] for key, value in answer.headers.items()}
        response = Response(answer.status, headers, answer.body, request, 0.0, verify=False)
        try:
            operation.Case(method=method, path_parameters=dict(places or {})).validate_response(
                response, checks=list(_CHECKS)
            )
        except FailureGroup as group:
            return [_line(failure) for failure in group.exceptions]
        except Failure as failure:
            return [_line(failure)]
        return []


_documents = PerAdapter(ServedDocument)


@dataclass(frozen=True)
class Drawn:
    """What a case of schemathesis sends.

    Attributes:
        query: Query parameters.
        content_type: Of the body, ``None`` without one.
        body: The body as text, ``None`` without one.
    """

    query: tuple[tuple[str, str], ...]
    content_type: str | None
    body: str | None


def drawn(case: Any) -> Drawn:
    """What a case of schemathesis sends, in values that a case file can hold."""
    sent = case.as_transport_kwargs(base_url=_BASE)
    body = None
    if "json" in sent:
        body = json.dumps(sent["json"])
    elif isinstance(sent.get("data"), bytes):
        body = sent["data"].decode(errors="replace")
    return Drawn(
        query=tuple((str(key), str(value)) for key, value in (sent.get("params") or {}).items()),
        content_type=None if body is None else sent["headers"].get("Content-Type"),
        body=body,
    )


def _line(failure: BaseException) -> str:
    title = getattr(failure, "title", type(failure).__name__)
    return " ".join(f"{title}: {getattr(failure, 'message', failure)}".split())
