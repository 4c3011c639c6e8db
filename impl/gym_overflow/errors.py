"""How the reference endpoint answers what goes wrong: OpenAI's error object, and never a word of the request.

Only an overflow may hold the words that Gym's classifier looks for. Every other error is worded here, from the place
of the fault and the rule it broke, and then written without those words whatever they came from.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from impl.gym_overflow import schemas
from impl.gym_overflow.answers import ErrorDetail, ErrorResponse
from impl.gym_overflow.deployment import InvalidRequestError, UnknownModelError
from impl.gym_overflow.overflow import OVERFLOW_STATUS, is_context_length_overflow, overflow_error, overflow_message_of
from impl.gym_overflow.rephrase import rephrase

if TYPE_CHECKING:
    from collections.abc import Iterable

_PROMPT_FIELDS = {"/v1/completions": "prompt", "/v1/responses": "input"}


def add_error_handlers(app: FastAPI) -> None:
    """Let an application answer every error in the one shape."""
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(UnknownModelError, _unknown_model)
    app.add_exception_handler(ValueError, _value_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _server_error)


def error_response(
    status: int, message: str, *, param: str | None = None, code: str | None = None, kind: str | None = None
) -> Response:
    """Answer an error that is no overflow."""
    kind = kind or ("invalid_request_error" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error")
    detail = ErrorDetail(message=message, type=kind, param=param, code=code)
    body = ErrorResponse(error=detail).model_dump_json().encode()
    return Response(rephrase(body), status_code=status, media_type="application/json")


async def _value_error(request: Request, error: Exception) -> Response:
    # The one place that every route's overflow passes. Any other ValueError is the server's own fault.
    if not is_context_length_overflow(error):
        if isinstance(error, InvalidRequestError):
            return error_response(HTTPStatus.BAD_REQUEST, str(error), param=error.param)
        raise error
    param = _PROMPT_FIELDS.get(request.url.path, "messages")
    return JSONResponse(overflow_error(overflow_message_of(error), param=param), status_code=OVERFLOW_STATUS)


async def _invalid(_request: Request, error: Exception) -> Response:
    faults = error.errors() if isinstance(error, RequestValidationError) else ()
    first = next(iter(faults), {"loc": (), "msg": "The request is not valid."})
    place = "" if first.get("type") == "json_invalid" else _known_place(first["loc"])
    more = f" ({len(faults) - 1} more)" if len(faults) > 1 else ""
    message = f"{first['msg']}, at {place}.{more}" if place else f"{first['msg']}.{more}"
    return error_response(HTTPStatus.BAD_REQUEST, message, param=place or None)


async def _unknown_model(_request: Request, _error: Exception) -> Response:
    message = "The model asked for is not served here."
    return error_response(HTTPStatus.NOT_FOUND, message, param="model", code="model_not_found")


async def _http_error(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else HTTPStatus.INTERNAL_SERVER_ERROR
    response = error_response(status, HTTPStatus(status).phrase)
    response.headers.update(getattr(error, "headers", None) or {})
    return response


async def _server_error(_request: Request, _error: Exception) -> Response:
    return error_response(HTTPStatus.INTERNAL_SERVER_ERROR, "The server failed to serve this request.")


def _known_place(location: Iterable[object]) -> str:
    """Write where a fault is, with the names of the models' own fields: any other name is the client's text."""
    return ".".join(str(part) for part in location if isinstance(part, int) or part in _FIELD_NAMES)


_FIELD_NAMES = {
    name
    for schema in vars(schemas).values()
    if isinstance(schema, type) and issubclass(schema, schemas.Schema)
    for name in schema.model_fields
}
