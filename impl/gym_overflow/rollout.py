"""A rollout client: one turn of a rollout against a chat endpoint, with the retries of Gym's client.

An overflow ends the rollout there and then: exactly one request, and an empty completion that the loss masks. Every
other error is repeated as Gym's client repeats it and then raised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import httpx
import stamina

from impl.gym_overflow.overflow import OVERFLOW_STATUS
from impl.gym_overflow.recognise import Refusal, recognise
from impl.gym_overflow.retries import GYM_0_7_0, RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType


@dataclass(frozen=True, slots=True)
class RolloutCompletion:
    """One turn of a rollout.

    Attributes:
        text: What the model wrote.
        finish_reason: "stop" or "length".
        prompt_token_ids: Ids of the final prompt, shape [prompt].
        generation_token_ids: Ids of the generated tokens, shape [generated].
        generation_log_probs: Their log-probabilities, natural logarithm, shape [generated].
        masked: The turn adds nothing to the loss.
    """

    text: str
    finish_reason: str
    prompt_token_ids: Sequence[int] = ()
    generation_token_ids: Sequence[int] = ()
    generation_log_probs: Sequence[float] = ()
    masked: bool = False

    @classmethod
    def overflowed(cls) -> RolloutCompletion:
        """The turn of a rollout whose history fills the window: empty, ended by length, masked."""
        return cls(text="", finish_reason="length", masked=True)

    def as_message(self) -> dict[str, Any]:
        """The assistant message that carries this turn, with its very ids, into the next turn's history."""
        return {
            "role": "assistant",
            "content": self.text,
            "prompt_token_ids": list(self.prompt_token_ids),
            "generation_token_ids": list(self.generation_token_ids),
        }


class RolloutClient:
    """Asks one chat endpoint for the turns of rollouts."""

    def __init__(
        self,
        base_url: str,
        *,
        model: str,
        policy: RetryPolicy = GYM_0_7_0,
        transport: httpx.AsyncBaseTransport | None = None,
        first_wait: float = 0.5,
        longest_wait: float = 30.0,
    ) -> None:
        """Connect to an endpoint.

        Args:
            base_url: Its address, without "/v1".
            model: Model name to ask for.
            policy: Which Gym release's retries to follow.
            transport: How requests travel; the network by default.
            first_wait: Seconds before the first repetition; it doubles with each further one.
            longest_wait: Most seconds between two requests.
        """
        self._client = httpx.AsyncClient(base_url=base_url, transport=transport, timeout=None)  # noqa: S113 - a turn takes as long as it takes
        self._model = model
        self._policy = policy
        self._waits = {"wait_initial": first_wait, "wait_max": longest_wait, "wait_jitter": 0.0}

    async def turn(self, messages: Sequence[Mapping[str, Any]], **sampling: Any) -> RolloutCompletion:
        """Ask for the next turn of a conversation.

        Args:
            messages: The history, earlier turns as `RolloutCompletion.as_message` gives them.
            sampling: Further fields of the request (`max_tokens`, `temperature`, ...).

        Raises:
            httpx.HTTPStatusError: The endpoint kept answering an error that is no overflow.
            httpx.TransportError: The endpoint could not be reached.
        """
        request = {"model": self._model, "messages": list(messages), "logprobs": True, "return_token_ids": True}
        response = await self._post({**request, **sampling})
        if response.status_code == OVERFLOW_STATUS:
            return RolloutCompletion.overflowed()
        return _completion(response.json())

    async def _post(self, body: Mapping[str, Any]) -> httpx.Response:
        sent = 0

        def again(error: Exception) -> bool:
            return isinstance(error, httpx.HTTPStatusError) and self._policy.tries_again(
                error.response.status_code, sent
            )

        async for attempt in stamina.retry_context(on=again, attempts=None, timeout=None, **self._waits):
            with attempt:
                sent += 1
                response = await self._client.post("/v1/chat/completions", json=body)
                if not _is_overflow(response):
                    response.raise_for_status()
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _is_overflow(response: httpx.Response) -> bool:
    if response.status_code != OVERFLOW_STATUS:
        return False
    return recognise(response.content, sent=response.request.content).refusal in {Refusal.PROMPT, Refusal.SUM}


def _completion(answer: Mapping[str, Any]) -> RolloutCompletion:
    choice = answer["choices"][0]
    logprobs = choice.get("logprobs") or {"content": []}
    return RolloutCompletion(
        text=choice["message"]["content"] or "",
        finish_reason=choice["finish_reason"],
        prompt_token_ids=tuple(answer.get("prompt_token_ids") or ()),
        generation_token_ids=tuple(choice.get("token_ids") or ()),
        generation_log_probs=tuple(entry["logprob"] for entry in logprobs["content"]),
    )
