"""One predicate, one message, one clamp: what every path of the reference shares."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.gym_overflow.overflow import (
    CONTEXT_LENGTH_MARKER,
    OVERFLOW_CODE,
    ContextLengthOverflowError,
    clamp_max_tokens,
    context_length_overflow_message,
    is_context_length_overflow,
    overflow_error,
)

WINDOWS = st.integers(min_value=2, max_value=10**6)


@given(window=WINDOWS, over=st.integers(min_value=0, max_value=10**6), requested=st.none() | st.integers(1, 10**12))
def test_a_prompt_that_fills_the_window_is_refused_with_both_numbers(
    window: int, over: int, requested: int | None
) -> None:
    with pytest.raises(ContextLengthOverflowError) as caught:
        clamp_max_tokens(window + over, requested, window)
    assert CONTEXT_LENGTH_MARKER in str(caught.value)
    assert f" {window} tokens" in str(caught.value)
    assert f" {window + over} tokens" in str(caught.value)


@given(data=st.data(), window=WINDOWS, requested=st.integers(1, 10**12))
def test_output_is_clamped_to_the_room_left(data: st.DataObject, window: int, requested: int) -> None:
    prompt = data.draw(st.integers(min_value=0, max_value=window - 1))
    assert clamp_max_tokens(prompt, requested, window) == min(requested, window - prompt)
    assert clamp_max_tokens(prompt, None, window) == window - prompt


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"prompt_tokens": 65, "window": 64}, "is 64 tokens. However, your prompt contains 65 tokens"),
        ({"prompt_tokens": 65, "window": 64, "at_least": True}, "your prompt contains at least 65 tokens"),
        ({"prompt_tokens": None, "window": 64}, "is 64 tokens. However, your prompt leaves no room"),
        ({"prompt_tokens": None, "window": None}, "is smaller than this request needs"),
    ],
    ids=["both", "at least", "no prompt", "neither"],
)
def test_a_message_says_the_numbers_that_are_known_and_no_others(numbers: dict[str, Any], said: str) -> None:
    message = context_length_overflow_message(**numbers)
    assert message.startswith(f"This model's {CONTEXT_LENGTH_MARKER} ")
    assert said in message


@pytest.mark.parametrize(
    "message",
    [
        # What vLLM's clamp, its renderer and its own serving code say; the first is NeMo-RL's wording before the fix.
        "Input prompt length 70 exceeds max_model_len 64.",
        (
            "This model's maximum context length is 64 tokens. However, your request has 80 input tokens. "
            "Please reduce the length of the input messages."
        ),
        (
            "This model's maximum context length is 64 tokens. However, you requested 1 output tokens and your prompt "
            "contains at least 64 input tokens, for a total of at least 65 tokens."
        ),
        context_length_overflow_message(64, 64),
    ],
)
def test_an_engines_plain_value_error_is_detected(message: str) -> None:
    assert is_context_length_overflow(ValueError(message))
    assert not is_context_length_overflow(RuntimeError(message))


@pytest.mark.parametrize(
    "message",
    [
        "temperature must be in [0, 2], got 3",
        "unexpected keyword argument 'max_tokens'",
        "could not parse 'This model's maximum context length is 64 tokens, your prompt contains 80 tokens'",
        "This model's maximum context length is 64 tokens. Your prompt contains 63 tokens.",
        context_length_overflow_message(None, None),
    ],
)
def test_other_value_errors_stay_server_errors(message: str) -> None:
    assert not is_context_length_overflow(ValueError(message))


def test_the_error_object_is_openais() -> None:
    error = overflow_error("words", param="messages")["error"]
    assert error == {
        "message": "words",
        "type": "invalid_request_error",
        "param": "messages",
        "code": OVERFLOW_CODE,
    }
