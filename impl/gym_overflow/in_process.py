"""Calls an ASGI application in this process through one synchronous `request`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import httpx
from anyio.from_thread import start_blocking_portal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from impl.gym_overflow.asgi_exchange import ASGIApp


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer, whole.

    Attributes:
        status: HTTP status.
        headers: Header fields, their names in lower case.
        body: The whole body.
        streamed: The answer is an event stream.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    streamed: bool


class InProcess:
    """An ASGI application behind one synchronous `request`; safe to call from several threads at once."""

    def __init__(self, app: ASGIApp) -> None:
        """Start to serve an application; `close` ends it."""
        self._resources = ExitStack()
        self._portal = self._resources.enter_context(start_blocking_portal())
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        client = httpx.AsyncClient(transport=transport, base_url="http://in-process")
        self._client = self._resources.enter_context(self._portal.wrap_async_context_manager(client))

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request and read its whole answer.

        Args:
            method: HTTP method.
            path: Path, with its query.
            json: A body to write as JSON.
            content: A body to send as it is, instead.
            headers: Header fields to add.
        """

        async def send() -> httpx.Response:
            return await self._client.request(method, path, json=json, content=content, headers=headers)

        response = self._portal.call(send)
        return Answer(
            status=response.status_code,
            headers=dict(response.headers),
            body=response.content,
            streamed=response.headers.get("content-type", "").startswith("text/event-stream"),
        )

    def close(self) -> None:
        """Stop serving."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
