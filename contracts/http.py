"""Adapters over HTTP: a base URL, or an ASGI application served on loopback for the time of a run."""

from __future__ import annotations

import json as json_codec
import socket
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import httpx
import uvicorn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_START_S = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered.

    Attributes:
        status: HTTP status.
        headers: Header names in lower case.
        body: The whole body, also of a stream.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text, as a client reads it; bytes that are no UTF-8 become replacement characters."""
        return self.body.decode(errors="replace")

    @property
    def json(self) -> Any:
        """The body as JSON, ``None`` where it is none."""
        try:
            return json_codec.loads(self.body)
        except ValueError:
            return None


def read(response: httpx.Response) -> Answer:
    """What httpx has read."""
    return Answer(
        response.status_code, {key.lower(): value for key, value in response.headers.items()}, response.content
    )


class UrlAdapter:
    """A server at a base URL.

    Args:
        base_url: Such as ``http://127.0.0.1:8000``.
        capabilities: What the server can do, by the names that its contract knows.
        name: Name in reports, by default the URL.
        version: Version in reports.
        model: Model name for requests; by default the first that ``/v1/models`` lists.
        window: Context window in tokens; by default the ``max_model_len`` that ``/v1/models`` states.
        count_tokens: Called as ``count_tokens(path, body)``; gives the number of tokens of the final prompt. By default
            the server's ``/tokenize`` or the ``usage`` of its answers is asked.
        headers: Sent with every request, such as an ``Authorization``.
        timeout_s: Seconds to wait for an answer.
        transport: Another httpx transport.
    """

    def __init__(
        self,
        base_url: str,
        *,
        capabilities: Iterable[str] = (),
        name: str | None = None,
        version: str = "",
        model: str | None = None,
        window: int | None = None,
        count_tokens: Callable[[str, Mapping[str, Any]], int] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.name = name or base_url
        self.version = version
        self.capabilities = frozenset(capabilities)
        self.model = model
        self.window = window
        self.count_tokens = count_tokens
        self._client = httpx.Client(
            base_url=base_url,
            headers=headers,
            timeout=timeout_s,
            transport=transport,
            trust_env=False,
            # Each request has its own connection: a server that has raised, or grown tired of an idle one, closes it,
            # and the next request on it would be reset.
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request and read the whole answer. May be called from several threads at once."""
        return read(self._client.request(method, path, json=json, content=content, headers=headers))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


class AsgiAdapter(UrlAdapter):
    """An ASGI application, served by uvicorn on a free loopback port until it is closed; arguments as `UrlAdapter`."""

    def __init__(self, app: Any, **options: Any) -> None:
        self._stack = ExitStack()
        url = self._stack.enter_context(served(app))
        super().__init__(url, **{"name": getattr(app, "title", type(app).__name__), **options})

    def close(self) -> None:
        """Close the connections and stop the server."""
        super().close()
        self._stack.close()


@contextmanager
def served(app: Any) -> Iterator[str]:
    """Serve an ASGI application on a free loopback port; gives its base URL.

    What the application raises is answered 500 and logged as ``uvicorn.error``, so that pytest shows it with a failure.

    Raises:
        TypeError: If it is no application.
        RuntimeError: If it does not start.
    """
    if not callable(app):
        raise TypeError(f"an ASGI application is called with (scope, receive, send); {app!r} cannot be called")
    config = uvicorn.Config(app, log_config=None, log_level="error", ws="none", timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    # With its protocol named, asyncio sends without Nagle's delay, which would cost 40 ms an answer.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))

    def serve() -> None:
        # A startup that fails makes uvicorn exit; the thread that waits for it says so.
        with suppress(SystemExit):
            server.run(sockets=[listener])

    thread = threading.Thread(target=serve, daemon=True, name="contracts-served")
    thread.start()
    deadline = time.monotonic() + _START_S
    while not server.started and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.005)
    if not server.started:
        how = (
            f"not within {_START_S:g} s"
            if thread.is_alive()
            else "its startup failed; the log of uvicorn.error says why"
        )
        server.should_exit = True
        listener.close()
        raise RuntimeError(f"the application did not start on 127.0.0.1: {how}")
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
