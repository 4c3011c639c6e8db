"""What every route's answer has in common, and what the document says of the refusals among them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import Response

from impl.metrics_wire.service.schemas import Refusal

_WHY = {
    HTTPStatus.BAD_REQUEST: "The body is not strict JSON",
    HTTPStatus.UNAUTHORIZED: "The token is missing or wrong",
    HTTPStatus.NOT_FOUND: "There is no such task",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body is not declared as JSON",
    HTTPStatus.UNPROCESSABLE_ENTITY: "A field is wrong; the message names it",
    HTTPStatus.SERVICE_UNAVAILABLE: "The database is unavailable; try again",
}

#: Refusals of every route that takes a body.
OF_BODIES = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)

Responses = dict[int | str, dict[str, Any]]

#: The answer to a reader whose entity tag is the present one.
UNCHANGED: Responses = {int(HTTPStatus.NOT_MODIFIED): {"description": "The client has it already"}}


def refusals(*statuses: HTTPStatus, token: str | None) -> Responses:
    """What the document says of a route's refusals.

    Args:
        statuses: Those of this route alone.
        token: The token of the service, if it has one.
    """
    always = (HTTPStatus.SERVICE_UNAVAILABLE, *([HTTPStatus.UNAUTHORIZED] if token else []))
    return {int(status): {"model": Refusal, "description": _WHY[status]} for status in sorted({*statuses, *always})}


def json_answer(text: str, tag: str | None = None) -> Response:
    """An answer of JSON text, which a reader may keep but asks for anew each time.

    Args:
        text: The JSON.
        tag: Its entity tag, quotes included.
    """
    headers = {"cache-control": "no-cache"} | ({"etag": tag} if tag else {})
    return Response(text, media_type="application/json", headers=headers)


def not_modified(tag: str) -> Response:
    """The answer to a reader that has what carries this entity tag."""
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"etag": tag, "cache-control": "no-cache"})


def has_tag(if_none_match: str | None, tag: str) -> bool:
    """Whether a reader says that it has what carries an entity tag."""
    tags = {each.strip().removeprefix("W/") for each in (if_none_match or "").split(",")}
    return tag in tags or "*" in tags
