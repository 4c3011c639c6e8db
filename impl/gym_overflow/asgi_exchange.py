"""One request and one answer of an ASGI application, held in memory so that they can be looked at and repeated."""

from __future__ import annotations

import gzip
import json
import logging
import zlib
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, replace
from typing import Any

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

_FIRST_ERROR_STATUS = 400
_SERVER_ERROR = 500
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HeldRequest:
    """A request whose body can be given to the application again.

    Attributes:
        scope: The ASGI scope as it came, before any application wrote into it.
        receive: The server's own channel, used once the body has been given (for the disconnect).
        body: The whole body; empty where it was not held (see `complete`).
        complete: `body` is the whole body.
        early: Messages already taken from `receive` that still have to be given on.
    """

    scope: Scope
    receive: Receive
    body: bytes = b""
    complete: bool = False
    early: tuple[Message, ...] = ()

    @property
    def path(self) -> str:
        """The path asked for."""
        return str(self.scope["path"])

    def json(self) -> Mapping[str, Any] | None:
        """The body as a JSON object; None if it is none."""
        try:
            document = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return document if isinstance(document, dict) else None

    def with_json(self, document: Mapping[str, Any], *, path: str | None = None) -> HeldRequest:
        """The same request with another body, and perhaps to another path of the same application."""
        body = json.dumps(document).encode()
        headers = [
            pair
            for pair in self.scope["headers"]
            if pair[0].lower() not in {b"content-length", b"transfer-encoding", b"content-type"}
        ]
        headers += [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        scope = {**self.scope, "headers": headers}
        if path is not None:
            scope |= {"path": path, "raw_path": path.encode(), "query_string": b""}
        return replace(self, scope=scope, body=body, complete=True, early=())

    async def call(self, app: ASGIApp, send: Send) -> None:
        """Give this request to an application."""
        pending: list[Message] = list(self.early)
        if self.complete:
            pending = [{"type": "http.request", "body": self.body, "more_body": False}]

        async def receive() -> Message:
            return pending.pop(0) if pending else await self.receive()

        await app(dict(self.scope), receive, send)


async def hold_request(scope: Scope, receive: Receive, limit: int) -> HeldRequest:
    """Take a request's body into memory; one above `limit` bytes is given on piece by piece instead."""
    early: list[Message] = []
    size = 0
    while True:
        message = await receive()
        early.append(message)
        size += len(message.get("body", b""))
        if message["type"] != "http.request" or size > limit:
            return HeldRequest(dict(scope), receive, early=tuple(early))
        if not message.get("more_body", False):
            body = b"".join(part.get("body", b"") for part in early)
            return HeldRequest(dict(scope), receive, body=body, complete=True)


@dataclass(frozen=True, slots=True)
class HeldAnswer:
    """An error answer, whole, before any byte of it has gone out.

    Attributes:
        status: HTTP status.
        headers: Names and values as the application gave them.
        body: The whole body.
        escaped: The exception that left the application instead of an answer.
    """

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    escaped: Exception | None = None

    @classmethod
    def of_escaped(cls, error: Exception) -> HeldAnswer:
        """The answer that a server makes of an exception: a 500, here with the exception's words."""
        body = json.dumps({"error": {"message": str(error)}}).encode()
        return cls(_SERVER_ERROR, (), body, escaped=error)

    def with_body(self, body: bytes, *, status: int | None = None, media_type: bytes | None = None) -> HeldAnswer:
        """The same answer with another body (and status), its length and encoding said anew."""
        dropped = {b"content-length", b"transfer-encoding", b"content-encoding"}
        dropped |= {b"content-type"} if media_type is not None else set()
        headers = [pair for pair in self.headers if pair[0].lower() not in dropped]
        if media_type is not None:
            headers.append((b"content-type", media_type))
        headers.append((b"content-length", str(len(body)).encode()))
        return HeldAnswer(self.status if status is None else status, tuple(headers), body)

    def decoded(self) -> HeldAnswer:
        """The same answer without a content encoding; one in an encoding unknown here stays as it is."""
        encoding = dict(self.headers).get(b"content-encoding", b"").lower()
        if encoding == b"gzip":
            return self.with_body(gzip.decompress(self.body))
        if encoding == b"deflate":
            return self.with_body(zlib.decompress(self.body))
        return self

    async def send(self, send: Send) -> None:
        """Give the answer out."""
        await send({"type": "http.response.start", "status": self.status, "headers": list(self.headers)})
        await send({"type": "http.response.body", "body": self.body})


class ErrorHolder:
    """A `send` that lets answers through as they come and holds back errors, whole.

    Attributes:
        passed: A first byte of an answer has gone out.
        answer: The error held back, once an application has given one.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = bytearray()
        self.passed = False

    async def __call__(self, message: Message) -> None:
        """Take one message of the application's answer."""
        if message["type"] == "http.response.start" and message["status"] >= _FIRST_ERROR_STATUS:
            self._start = message
        elif self._start is not None and message["type"] == "http.response.body":
            self._body += message.get("body", b"")
        elif self._start is None:
            self.passed = True
            await self._send(message)

    @property
    def answer(self) -> HeldAnswer | None:
        """The error held back; None if the answer has gone through."""
        if self._start is None:
            return None
        headers = tuple((bytes(name), bytes(value)) for name, value in self._start.get("headers", ()))
        return HeldAnswer(self._start["status"], headers, bytes(self._body))


async def call_in_process(app: ASGIApp, request: HeldRequest) -> tuple[int, bytes]:
    """Give a request to an application in this process; status and body of its answer.

    An exception that escapes the application is the 500 that its server would have made of it.
    """
    status = 0
    body = bytearray()

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        elif message["type"] == "http.response.body":
            body.extend(message.get("body", b""))

    try:
        await request.call(app, send)
    except Exception:  # noqa: BLE001 - whatever an application raises, its server answers 500
        _LOG.exception("%s failed inside the application", request.path)
        return _SERVER_ERROR, b""
    return status, bytes(body)
