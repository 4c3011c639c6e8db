"""Refusals are recognised by their kind: any numbers, many wordings, and never by words that merely occur."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.gym_overflow.recognise import Refusal, recognise

# {p} prompt, {w} window, {o} output, {s} their sum. Wordings of servers and gateways, numbers ours.
PROMPT_WORDINGS = (
    "This model's maximum context length is {w} tokens. However, your request has {p} input tokens. Reduce it.",
    (
        "This model's maximum context length is {w} tokens. However, your prompt contains at least {p} input tokens, "
        "which exceeds this limit even without any output tokens."
    ),
    (
        "You passed {p} input tokens and requested 0 output tokens. However, the model's context length is only {w} "
        "tokens, resulting in a maximum input length of one less."
    ),
    "The prompt (total length {p}) is too long to fit into the model (context length {w}). Make sure of it.",
    "Token indices sequence length is longer than the specified maximum sequence length for this model ({p} > {w})",
    "Requested tokens ({p}) exceed context window of {w}",
    "Prompt exceeds max_model_len: prompt_len={p}, max_model_len={w}",
    "prompt_len={p} exceeds max_model_len={w}",
    "Prompt of length {p} exceeds the model's context window of {w} tokens.",
    "Prompt has {p} tokens, but max_model_len is {w}",
    "The number of input tokens ({p}) must be less than max_model_len ({w}).",
    "Input text is too long: {p} tokens, maximum {w} tokens",
    "Prompt is longer than the context window ({p} vs {w})",
    "Context length exceeded. The maximum is {w} tokens; the prompt has {p} tokens.",
    "The engine prompt length {p} exceeds the max_model_len {w}. Please reduce prompt.",
    "The decoder prompt (length {p}) is longer than the maximum model length of {w}. Make sure of it.",
    "Prompt length of {p} is longer than the maximum model length of {w}.",
    "The input ({p} tokens) is longer than the model's context length ({w} tokens).",
    "Input length ({p} tokens) exceeds the maximum allowed length ({w} tokens).",
    "prompt is too long: {p} tokens > {w} maximum",
    "The input token count ({p}) exceeds the maximum number of tokens allowed ({w}).",
    "prompt token count of {p} exceeds the limit of {w}",
    "Prompt contains {p} tokens, too large for model with {w} maximum context length",
    "This model's maximum prompt length is {w} but the request contains {p} tokens.",
    "Your request exceeded model token limit: {w} (requested: {p})",
    "context length exceeded: prompt ({p} tokens) exhausted context window ({w})",
    "Cannot truncate prompt with n_keep ({p}) >= n_ctx ({w})",
    "litellm.BadRequestError: OpenAIException - prompt is too long: {p} tokens > {w} maximum",
)
SUM_WORDINGS = (
    (
        "This model's maximum context length is {w} tokens. However, you requested {o} output tokens and your prompt "
        "contains at least {p} input tokens, for a total of at least {s} tokens. Reduce it."
    ),
    (
        "This model's maximum context length is {w} tokens. However, you requested {s} tokens ({p} in the messages, "
        "{o} in the completion). Please reduce the length of the messages or so."
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: {o}. This model's maximum context length is {w} tokens "
        "and your request has {p} input tokens ({o} > {w} - {p}). None"
    ),
    "input length and `max_tokens` exceed context limit: {p} + {o} > {w}, decrease it",
    (
        "Requested token count exceeds the model's maximum context length of {w} tokens. You requested a total of {s} "
        "tokens: {p} tokens from the input messages and {o} tokens for the completion."
    ),
)
Envelope = Callable[[str], str]
ENVELOPES: tuple[Envelope, ...] = (
    lambda message: json.dumps({"error": {"message": message, "type": "BadRequestError", "param": None, "code": 400}}),
    lambda message: json.dumps({"object": "error", "message": message, "code": 400}),
    lambda message: json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": message}}),
    lambda message: json.dumps({"error": message}),
    lambda message: json.dumps({"detail": message}),
    lambda message: json.dumps({"error": {"message": f"litellm.BadRequestError: {json.dumps({'error': message})}"}}),
    lambda message: message,
)
WINDOWS = st.integers(min_value=16, max_value=2_000_000)


@given(st.sampled_from(PROMPT_WORDINGS), st.sampled_from(ENVELOPES), WINDOWS, st.integers(min_value=0, max_value=10**6))
def test_a_prompt_over_the_window_is_recognised_with_its_numbers(
    wording: str, envelope: Envelope, window: int, over: int
) -> None:
    found = recognise(envelope(wording.format(p=window + over, w=window)).encode())
    assert found.refusal is Refusal.PROMPT
    assert (found.statement.prompt, found.statement.window) == (window + over, window)


@given(st.data(), st.sampled_from(PROMPT_WORDINGS), st.sampled_from(ENVELOPES), WINDOWS)
def test_the_same_words_with_a_prompt_that_fits_are_no_overflow(
    data: st.DataObject, wording: str, envelope: Envelope, window: int
) -> None:
    prompt = data.draw(st.integers(min_value=1, max_value=window - 1))
    assert recognise(envelope(wording.format(p=prompt, w=window)).encode()).refusal is Refusal.OTHER


@given(st.data(), st.sampled_from(SUM_WORDINGS), WINDOWS)
def test_prompt_and_output_over_the_window_are_told_from_a_cap_over_it(
    data: st.DataObject, wording: str, window: int
) -> None:
    prompt = data.draw(st.integers(min_value=1, max_value=window - 1))
    output = data.draw(st.integers(min_value=window - prompt + 1, max_value=3 * window))
    body = wording.format(p=prompt, o=output, s=prompt + output, w=window).encode()
    assert recognise(body).refusal is (Refusal.SUM if output <= window else Refusal.OUTPUT_CAP)


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
@pytest.mark.parametrize("limit", ["max_model_len=64", "max_model_len=max_total_tokens=64"])
@pytest.mark.parametrize("gap", [" ", ""])
def test_a_cap_over_the_window_is_no_overflow_of_the_prompt(name: str, limit: str, gap: str) -> None:
    body = f'{{"error": {{"message": "{name}=65{gap}cannot be greater than {limit}. Please request fewer."}}}}'
    assert recognise(body.encode()).refusal is Refusal.OUTPUT_CAP


@pytest.mark.parametrize(
    "message",
    [
        "Prompt exceeds maximum context length",
        "Context size has been exceeded.",
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        "invalid params, context window exceeds limit (2013)",
        "Prompt is too long",
        "Input is too long for requested model.",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
    ],
)
def test_a_refusal_without_numbers_is_the_whole_message(message: str) -> None:
    assert recognise(json.dumps({"error": message}).encode()).refusal is Refusal.PROMPT
    assert recognise(json.dumps({"error": f"{message} 'in user text'"}).encode()).refusal is Refusal.OTHER


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Please reduce the length of the messages.", "code": "context_length_exceeded"},
        {"message": "too big", "type": "exceed_context_size_error", "n_prompt_tokens": 14429, "n_ctx": 8192},
        {"message": "no", "type": "exceed_context_size_error"},
    ],
)
def test_a_machine_readable_code_needs_no_wording(error: dict[str, object]) -> None:
    assert recognise(json.dumps({"error": error}).encode()).refusal is Refusal.PROMPT


OVERFLOW_TEXT = PROMPT_WORDINGS[0].format(p=80, w=64)
QUOTING = (
    "1 validation error:\n  {{'type': 'literal_error', 'loc': ('body', 'messages', 0, 'role'), 'input': \"{0}\"}}",
    "Invalid value for 'content': {0}",
    'Grammar error: invalid regex "{0}"',
    "The model `{0}` does not exist.",
    "Unknown part type: {0}",
    "n must be at least 1, got 0. ({0})",
    "Failed to parse the tool arguments '{0}' as JSON",
    "'{0}'",
    'Tool named "{0}" is not in the tools list',
    "user said: {0}",
)


@pytest.mark.parametrize("quoting", QUOTING)
@pytest.mark.parametrize("envelope", ENVELOPES, ids=[f"envelope {number}" for number in range(len(ENVELOPES))])
def test_an_error_that_quotes_an_overflow_is_none(quoting: str, envelope: Envelope) -> None:
    assert recognise(envelope(quoting.format(OVERFLOW_TEXT)).encode()).refusal is Refusal.OTHER


@pytest.mark.parametrize(
    "message",
    [
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
        "Request size 30 MB exceeds limit 20 MB",
        "messages 12 exceeds limit 10",
        "Request exceeded limit",
        "Input exceeds limit.",
        "The prompt contains 11 images, which exceeds the limit of 10",
        "The decoder prompt cannot be empty",
        "min_tokens must be less than or equal to max_tokens=4, got 10.",
        "Requested sample logprobs of 30, which is greater than max allowed: 20",
        "n must be at most 16384, got 100000.",
        "context length is a fine subject",
        "This model's maximum context length is 64 tokens.",
        "",
    ],
)
def test_other_refusals_are_no_overflow(message: str) -> None:
    assert recognise(json.dumps({"error": {"message": message}}).encode()).refusal is Refusal.OTHER


@given(st.binary(max_size=300))
def test_any_bytes_can_be_read(body: bytes) -> None:
    assert isinstance(recognise(body).refusal, Refusal)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["error", "message", "code", "type", "param", "detail", "n_ctx"]), inner)
        ),
    )
)
def test_any_json_can_be_read(document: object) -> None:
    assert isinstance(recognise(json.dumps(document).encode()).refusal, Refusal)
