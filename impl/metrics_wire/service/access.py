"""Who is answered: with a token, whoever carries it; without one on loopback, whoever names this machine."""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from impl.metrics_wire.service.errors import refusal

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp, Receive, Scope, Send

#: A header of its own for each: Chromium reads one challenge a header, and asks for no password where that is another.
_CHALLENGES = ('Basic realm="jobs", charset="UTF-8"', "Bearer")


def document_token(app: FastAPI) -> None:
    """Let the OpenAPI document of an application say that every route asks for the token, and how it is given."""
    document = app.openapi()
    document["components"]["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "basic": {"type": "http", "scheme": "basic", "description": "Any user name; the token is the password"},
    }
    document["security"] = [{"bearer": []}, {"basic": []}]


class TokenRequired:
    """Lets a request through that carries the token: as a bearer, or as the password of a browser's user.

    Args:
        app: What is guarded.
        token: The token.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] == "lifespan" or self._admits(Headers(scope=scope).get("authorization", "")):
            await self._app(scope, receive, send)
            return
        answer = refusal(
            HTTPStatus.UNAUTHORIZED,
            "authorization: the token is missing or wrong",
            {"cache-control": "no-store"},
        )
        for challenge in _CHALLENGES:
            answer.headers.append("www-authenticate", challenge)
        await answer(scope, receive, send)

    def _admits(self, authorization: str) -> bool:
        scheme, _, credentials = authorization.partition(" ")
        if scheme.lower() == "basic":
            try:
                _, _, given = base64.b64decode(credentials, validate=True).partition(b":")
            except (binascii.Error, ValueError):
                return False
        elif scheme.lower() == "bearer":
            given = credentials.strip().encode("latin-1")  # as a header is read
        else:
            return False
        return hmac.compare_digest(given, self._token)


class LocalNamesOnly:
    """Lets a request through that asks for this machine by an address, or as localhost.

    A page from elsewhere can let a name of its own point to loopback, and a browser then takes what is served there
    for that page's own. Its requests name that name.

    Args:
        app: What is guarded.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        host = Headers(scope=scope).get("host", "") if scope["type"] != "lifespan" else ""
        if not host or _is_local_name(_without_port(host)):
            await self._app(scope, receive, send)
            return
        answer = refusal(
            HTTPStatus.MISDIRECTED_REQUEST,
            "host: without a token this service is reached as localhost, or by an address; give it --token",
        )
        await answer(scope, receive, send)


def _is_local_name(host: str) -> bool:
    """Whether a host is named by an address, or as localhost, which no one else's name server answers for."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host.lower() == "localhost"
    return True


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]
