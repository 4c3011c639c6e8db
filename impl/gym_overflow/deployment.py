"""One served model: its name, its window, its engine, and what every route asks of them before it generates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from impl.gym_overflow.engine import Engine, Generation, SamplingParams
from impl.gym_overflow.overflow import clamp_max_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impl.gym_overflow.schemas import Sampling

CREATED = 1_700_000_000
"""Time in every answer; a constant, so that the same request has the same answer, byte for byte."""


class UnknownModelError(LookupError):
    """The request names a model that is not served here."""


class InvalidRequestError(ValueError):
    """A request whose fields contradict each other.

    Attributes:
        param: The field to blame.
    """

    def __init__(self, message: str, param: str) -> None:
        super().__init__(message)
        self.param = param


@dataclass(frozen=True, slots=True)
class Deployment:
    """A model as it is served.

    Attributes:
        model: Its name.
        window: Tokens that prompt and output may hold together.
        engine: What generates.
    """

    model: str
    window: int
    engine: Engine = field(default_factory=Engine)

    def check_model(self, name: str | None) -> None:
        """Refuse a request for another model.

        Raises:
            UnknownModelError: `name` is none that is served.
        """
        if name is not None and name != self.model:
            raise UnknownModelError

    def sampling_params(self, request: Sampling, requested: int | None, prompt_tokens: int, top: int) -> SamplingParams:
        """Turn a request into what the engine is told, with an output cap that fits the window.

        Args:
            request: The request.
            requested: Output tokens it asks for; None for all that fit.
            prompt_tokens: Tokens of the final prompt.
            top: Alternatives to report per token.

        Raises:
            InvalidRequestError: More tokens are wanted at least than at most.
            ContextLengthOverflowError: The prompt leaves no room for one token.
        """
        least = request.min_tokens or 0
        if requested is not None and least > requested:
            raise InvalidRequestError("The least number of output tokens is above the most.", "min_tokens")
        stop = request.stop or ()
        most = clamp_max_tokens(prompt_tokens, requested, self.window)
        return SamplingParams(
            max_tokens=most,
            min_tokens=min(least, most),
            temperature=1.0 if request.temperature is None else request.temperature,
            seed=request.seed or 0,
            stop=(stop,) if isinstance(stop, str) else tuple(stop),
            stop_token_ids=frozenset(request.stop_token_ids or ()),
            ignore_eos=bool(request.ignore_eos),
            top_logprobs=top,
        )

    def choices(self, prompt: Sequence[int], params: SamplingParams, n: int | None) -> list[Generation]:
        """Generate a prompt's `n` choices."""
        return [self.engine.generate(prompt, params, index) for index in range(n or 1)]
