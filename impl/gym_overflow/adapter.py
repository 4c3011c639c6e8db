"""The reference endpoint as an adapter: an application in this process behind one synchronous `request`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import httpx
from anyio.from_thread import start_blocking_portal

from impl.gym_overflow.endpoint import DEFAULT_MODEL, DEFAULT_WINDOW, create_app, final_prompt_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from impl.gym_overflow.asgi_exchange import ASGIApp


CAPABILITIES = frozenset(
    {
        "streaming",
        "completions",
        "responses",
        "tokenize",
        "tools",
        "logprobs",
        "n",
        "splice",
        "max_completion_tokens",
        "openapi",
    }
)
"""What the reference endpoint serves beyond plain chat completions."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer, whole.

    Attributes:
        status: HTTP status.
        headers: Header fields.
        body: The whole body.
        streamed: The answer is an event stream.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    streamed: bool


class ReferenceEndpoint:
    """An endpoint called in process through ASGI, the reference by default; safe to call from several threads at once.

    Attributes:
        name: Name of this implementation.
        version: Its version.
        capabilities: What it serves.
        model: Model name to put into requests.
        window: Tokens that prompt and output may hold together.
    """

    name = "reference endpoint"
    version = "1.0"
    capabilities = CAPABILITIES

    def __init__(self, app: ASGIApp, *, model: str, window: int) -> None:
        self.model = model
        self.window = window
        self._resources = ExitStack()
        self._portal = self._resources.enter_context(start_blocking_portal())
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        client = httpx.AsyncClient(transport=transport, base_url="http://reference")
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
        media_type = response.headers.get("content-type", "")
        return Answer(
            status=response.status_code,
            headers=dict(response.headers),
            body=response.content,
            streamed=media_type.startswith("text/event-stream"),
        )

    def count_tokens(self, path: str, body: Mapping[str, Any]) -> int:
        """Count the final prompt that the endpoint would build for a body, in tokens.

        Raises:
            pydantic.ValidationError: The body is no valid request to this path.
            LookupError: The path takes no prompt.
        """
        return final_prompt_tokens(path, dict(body))

    def close(self) -> None:
        """Stop serving."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def endpoint() -> ReferenceEndpoint:
    """Serve the reference endpoint with its default model and window."""
    app = create_app(window=DEFAULT_WINDOW, model=DEFAULT_MODEL)
    return ReferenceEndpoint(app, model=DEFAULT_MODEL, window=DEFAULT_WINDOW)
