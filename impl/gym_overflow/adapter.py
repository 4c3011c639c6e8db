"""The reference endpoint as an adapter for the endpoint contract."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from impl.gym_overflow.endpoint import DEFAULT_MODEL, DEFAULT_WINDOW, create_app, final_prompt_tokens
from impl.gym_overflow.engine import Engine
from impl.gym_overflow.in_process import Answer, InProcess

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CAPABILITIES = frozenset(
    {
        "streaming",
        "completions",
        "token_prompts",
        "responses",
        "tokenize",
        "tools",
        "logprobs",
        "n",
        "splice",
        "max_completion_tokens",
        "openapi",
        "internal_fault",
    }
)
"""What the reference endpoint serves beyond plain chat completions."""


class ReferenceEndpoint(InProcess):
    """The reference endpoint, served in this process.

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

    def __init__(
        self, *, model: str = DEFAULT_MODEL, window: int = DEFAULT_WINDOW, engine: Engine | None = None
    ) -> None:
        """Serve a reference endpoint; the arguments are those of `create_app`."""
        super().__init__(create_app(model=model, window=window, engine=engine))
        self.model = model
        self.window = window

    def count_tokens(self, path: str, body: Mapping[str, Any]) -> int:
        """Count the final prompt that the endpoint would build for a body, in tokens.

        Raises:
            pydantic.ValidationError: The body is no valid request to this path.
            LookupError: The path takes no prompt.
        """
        return final_prompt_tokens(path, dict(body))

    def internal_fault(self, message: str, method: str, path: str, json: Any) -> Answer:
        """Send a request while the server's engine raises `ValueError(message)`, whatever it is asked."""
        engine, faulty = self._faulty
        with engine.raising(message):
            return faulty.request(method, path, json=json)

    @cached_property
    def _faulty(self) -> tuple[_FaultyEngine, ReferenceEndpoint]:
        # Built once: an application with its document takes longer to build than all else here.
        engine = _FaultyEngine()
        faulty = ReferenceEndpoint(model=self.model, window=self.window, engine=engine)
        return engine, self._resources.enter_context(faulty)


class _FaultyEngine(Engine):
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._message = ""

    @contextmanager
    def raising(self, message: str) -> Iterator[None]:
        with self._lock:
            self._message = message
            yield

    def generate(self, *_arguments: object, **_options: object) -> NoReturn:
        raise ValueError(self._message)


def endpoint() -> ReferenceEndpoint:
    """Serve the reference endpoint with its default model and window."""
    return ReferenceEndpoint()
