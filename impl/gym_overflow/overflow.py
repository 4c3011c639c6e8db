"""What an overflow is and how this server says it: one predicate, one message, one error object.

Every path that can meet a full context window (chat, completions, responses, tokenize, plain or spliced
history, streaming or not) takes these from here, so that no path can word or number an overflow its own way.
"""

from __future__ import annotations

from typing import Any

from impl.gym_overflow.recognise import recognise, states_overflow

CONTEXT_LENGTH_MARKER = "maximum context length"
"""Words that every overflow message holds; Gym's classifier looks for their last two."""

OVERFLOW_STATUS = 400
"""The only HTTP status that Gym's classifier accepts for an overflow."""

OVERFLOW_CODE = "context_length_exceeded"
"""OpenAI's error code for an overflow."""


class ContextLengthOverflowError(ValueError):
    """The final prompt (after template and splice) leaves no room for one output token.

    Attributes:
        prompt_tokens: Tokens of the final prompt.
        window: Tokens that prompt and output may hold together.
    """

    def __init__(self, prompt_tokens: int, window: int) -> None:
        self.prompt_tokens = prompt_tokens
        self.window = window
        super().__init__(context_length_overflow_message(prompt_tokens, window))


def leaves_no_room(prompt_tokens: int, window: int) -> bool:
    """Say whether a final prompt of `prompt_tokens` tokens leaves no room for one token in `window` tokens."""
    return prompt_tokens >= window


def clamp_max_tokens(prompt_tokens: int, requested: int | None, window: int) -> int:
    """Give the output tokens a request may have: what it asked for, at most what the window leaves.

    This is the one path of the reference that NeMo-RL's `_clamp_max_tokens` is: no prompt reaches the engine
    around it.

    Args:
        prompt_tokens: Tokens of the final prompt.
        requested: The output cap asked for, in tokens; None asks for all that is left.
        window: Tokens that prompt and output may hold together.

    Raises:
        ContextLengthOverflowError: Not one output token fits.
    """
    if leaves_no_room(prompt_tokens, window):
        raise ContextLengthOverflowError(prompt_tokens, window)
    room = window - prompt_tokens
    return room if requested is None else min(requested, room)


def context_length_overflow_message(prompt_tokens: int | None, window: int | None, *, at_least: bool = False) -> str:
    """Build the message of an overflow from its numbers.

    Args:
        prompt_tokens: Tokens of the final prompt; None where a foreign server did not say.
        window: Tokens that prompt and output may hold together; None where a foreign server did not say.
        at_least: The server stopped counting at `prompt_tokens`.
    """
    limit = f"This model's {CONTEXT_LENGTH_MARKER} is "
    limit += "smaller than this request needs." if window is None else f"{window} tokens."
    if prompt_tokens is None:
        return f"{limit} However, your prompt leaves no room for the output. Please shorten the prompt."
    count = f"at least {prompt_tokens}" if at_least else f"{prompt_tokens}"
    return (
        f"{limit} However, your prompt contains {count} tokens, which leaves no room for the output. "
        "Please shorten the prompt."
    )


def overflow_error(message: str, *, param: str | None) -> dict[str, Any]:
    """Wrap an overflow message into the OpenAI error object.

    Args:
        message: From `context_length_overflow_message`.
        param: The request field that holds the prompt ("messages", "prompt", "input"), if known.
    """
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": OVERFLOW_CODE}}


def overflow_message_of(error: BaseException) -> str:
    """Give the message for an error that `is_context_length_overflow`, with the numbers that it states."""
    if isinstance(error, ContextLengthOverflowError):
        return str(error)
    stated = recognise(str(error).encode()).statement
    return context_length_overflow_message(stated.prompt_tokens, stated.window_tokens, at_least=stated.at_least)


def is_context_length_overflow(error: BaseException) -> bool:
    """Tell an overflow from every other error that a server's code may raise.

    Engines raise a plain `ValueError` for an overflow; it counts only if its own words state, with numbers, that
    the prompt fills the window. A `ValueError` that merely mentions such words stays what it is: a server error.
    """
    if isinstance(error, ContextLengthOverflowError):
        return True
    return isinstance(error, ValueError) and states_overflow(str(error))
