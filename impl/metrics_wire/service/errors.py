"""How the service refuses: one JSON object with a message that names the field, whatever went wrong."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from fastapi import FastAPI, Request
    from starlette.responses import Response

_LOG = logging.getLogger(__name__)
_LONGEST_PLACE = 200
#: A connection that broke, a transaction that this server does not carry out (one that takes over reads only), and no
#: connection in time.
_UNAVAILABLE = (OperationalError, InterfaceError, InternalError, PoolTimeoutError)
_CONTAINERS = frozenset({"body", "path", "query", "header"})


def refusal(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """The answer to a request that is not carried out."""
    return JSONResponse({"message": message}, status, headers)


def add_error_handlers(app: FastAPI) -> None:
    """Let an application answer every error in the one shape."""
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    for kind in _UNAVAILABLE:
        app.add_exception_handler(kind, _unavailable)
    app.add_exception_handler(Exception, _server_error)


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - it is registered for these
    faults = error.errors()
    container, *parts = map(str, faults[0]["loc"])
    place = ".".join(parts) if parts and container in _CONTAINERS else container
    more = f" ({len(faults) - 1} more)" if len(faults) > 1 else ""
    return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, f"{place[:_LONGEST_PLACE]}: {faults[0]['msg']}{more}")


async def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for these
    return refusal(error.status_code, error.detail, dict(error.headers or {}))


async def _unavailable(request: Request, error: Exception) -> Response:
    _LOG.error("%s %s: the database is unavailable: %s", request.method, request.url.path, error)
    return refusal(HTTPStatus.SERVICE_UNAVAILABLE, "the database is unavailable, try again", {"retry-after": "1"})


async def _server_error(_request: Request, _error: Exception) -> Response:
    return refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "the service failed to carry out this request")
