"""The reference endpoint as an adapter for the endpoint contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from impl.gym_overflow.endpoint import DEFAULT_MODEL, DEFAULT_WINDOW, create_app, final_prompt_tokens
from impl.gym_overflow.engine import Engine
from impl.gym_overflow.in_process import Answer, InProcess

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        engine = _FaultyEngine(message)
        with ReferenceEndpoint(model=self.model, window=self.window, engine=engine) as faulty:
            return faulty.request(method, path, json=json)


class _FaultyEngine(Engine):
    def __init__(self, message: str) -> None:
        self._message = message

    def generate(self, *_arguments: object, **_options: object) -> NoReturn:
        raise ValueError(self._message)


def endpoint() -> ReferenceEndpoint:
    """Serve the reference endpoint with its default model and window."""
    return ReferenceEndpoint()
