"""A deterministic byte-level engine: no weights, no download, the same tokens for the same request, everywhere.

One byte of text is one token; special tokens mark roles and ends. "Sampling" is a running hash of the prompt, so that
every request has an answer that depends on all of its tokens and on nothing else.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

END = 256
"""Ends a message, and a generation that stops by itself."""

ROLE_TOKENS = {"system": 257, "developer": 257, "user": 258, "assistant": 259, "tool": 260, "tools": 261}
"""Opens a message of this role; "tools" opens the tool schemas."""

VOCABULARY_SIZE = 262

_ALPHABET = b" etaoinshrdlucmfwypvbgkjqxz"
_STOPS_ONE_IN = 64
_MOST_LIKELY = -0.02


def tokenize(text: str) -> list[int]:
    """Turn text into token ids: its UTF-8 bytes."""
    return list(text.encode())


def detokenize(ids: Iterable[int]) -> str:
    """Turn token ids into text; special and unknown ids have none."""
    return bytes(token for token in ids if token < END).decode(errors="replace")


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How to generate.

    Attributes:
        max_tokens: Most tokens to generate; at least 1.
        min_tokens: Tokens before which generation neither ends nor looks for stop strings.
        temperature: 0 makes `seed` and the choice's index meaningless.
        seed: Changes the tokens where the temperature is above 0.
        stop: Strings that end the generation and are cut off.
        stop_token_ids: Ids that end the generation.
        ignore_eos: Never end by itself.
        top_logprobs: Alternatives to report per token.
    """

    max_tokens: int
    min_tokens: int = 0
    temperature: float = 1.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    stop_token_ids: frozenset[int] = frozenset()
    ignore_eos: bool = False
    top_logprobs: int = 0


@dataclass(frozen=True, slots=True)
class Token:
    """One generated token, its log-probability and its alternatives (id, log-probability), itself first."""

    id: int
    logprob: float
    top: tuple[tuple[int, float], ...] = ()


@dataclass(slots=True)
class Generation:
    """What one generation gave.

    Attributes:
        tokens: The generated tokens.
        text: Their text, without a stop string.
        finish_reason: "stop" (ended by itself or at a stop) or "length".
    """

    tokens: list[Token] = field(default_factory=list)
    text: str = ""
    finish_reason: str = "length"

    @property
    def ids(self) -> list[int]:
        """Ids of the generated tokens."""
        return [token.id for token in self.tokens]


class Engine:
    """Generates tokens; it holds no state between requests, so any number of them may run at once."""

    def generate(self, prompt: Sequence[int], params: SamplingParams, index: int = 0) -> Generation:
        """Generate after a prompt.

        Args:
            prompt: Token ids of the final prompt.
            params: How to generate. That prompt and output fit the window is the caller's to see to.
            index: Which of a request's `n` choices this is.
        """
        draw = f"{params.seed}/{index}" if params.temperature > 0 else "greedy"
        state = hashlib.blake2b(f"{draw}:{','.join(map(str, prompt))}".encode(), digest_size=16)
        result = Generation()
        while len(result.tokens) < params.max_tokens:
            token = _next_token(state.digest(), params, len(result.tokens))
            state.update(token.id.to_bytes(2, "big"))
            result.tokens.append(token)
            if len(result.tokens) > params.min_tokens and self._ends(result, token, params):
                result.finish_reason = "stop"
                return result
            if token.id < END:
                result.text += chr(token.id)
        return result

    def _ends(self, result: Generation, token: Token, params: SamplingParams) -> bool:
        if token.id in params.stop_token_ids or (token.id == END and not params.ignore_eos):
            return True
        text = result.text + chr(token.id)
        for stop in params.stop:
            if stop and text.endswith(stop):
                result.text = text.removesuffix(stop)
                return True
        return False


def _next_token(digest: bytes, params: SamplingParams, position: int) -> Token:
    may_end = not params.ignore_eos and position >= params.min_tokens
    chosen = END if may_end and digest[0] % _STOPS_ONE_IN == 0 else _ALPHABET[digest[1] % len(_ALPHABET)]
    logprob = _MOST_LIKELY - digest[2] / 256
    others = [letter for letter in _ALPHABET if letter != chosen][: max(0, params.top_logprobs - 1)]
    top = ((chosen, logprob), *((letter, logprob - 1 - rank) for rank, letter in enumerate(others)))
    return Token(chosen, logprob, top[: params.top_logprobs])
