"""What is wrong with an answer that should refuse an overflow."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.gym_overflow.refusal import error_object, is_error_object, problems
from contracts.http import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

JSON = {"content-type": "application/json"}
CODES = st.sampled_from(["context_length_exceeded", 400, "400"])


@st.composite
def lengths(draw: st.DrawFn) -> tuple[int, int]:
    window = draw(st.integers(2, 10**6))
    return window + draw(st.integers(0, 10**6)), window


def refusal(tokens: int, window: int, **changes: Any) -> Answer:
    parts = {
        "status": 400,
        "headers": JSON,
        "message": f"This model's maximum context length is {window} tokens. Your prompt has {tokens} tokens.",
        "code": "context_length_exceeded",
        **changes,
    }
    error = {"message": parts["message"], "type": "invalid_request_error", "param": None, "code": parts["code"]}
    return Answer(parts["status"], parts["headers"], parts.get("body", json.dumps({"error": error}).encode()))


@given(lengths(), CODES, st.sampled_from(["application/json", "application/json; charset=utf-8"]))
def test_a_canonical_refusal_has_no_problem(length: tuple[int, int], code: Any, content_type: str) -> None:
    tokens, window = length
    answer = refusal(tokens, window, code=code, headers={"content-type": content_type})
    assert problems(answer, prompt_tokens=tokens, window=window) == []


CORRUPTIONS: dict[str, tuple[Callable[[int, int], dict[str, Any]], str]] = {
    "status": (lambda *_: {"status": 422}, "status 422, not 400"),
    "content type": (lambda *_: {"headers": {"content-type": "text/plain"}}, "no JSON"),
    "no content type": (lambda *_: {"headers": {}}, "no JSON"),
    "no json": (lambda *_: {"body": b"maximum context length"}, "no JSON"),
    "a list": (lambda *_: {"body": b"[]"}, "no error.message"),
    "detail": (lambda *_: {"body": b'{"detail": "maximum context length"}'}, "no error.message"),
    "null message": (lambda *_: {"message": None}, "no error.message"),
    "other words": (lambda t, w: {"message": f"max_model_len is {w}, you sent {t}"}, "lacks 'maximum context length'"),
    "capitals": (lambda t, w: {"message": f"Maximum Context Length {w} {t}"}, "lacks 'maximum context length'"),
    "no window": (lambda t, _: {"message": f"maximum context length, {t}"}, "does not state both numbers"),
    "no tokens": (lambda _, w: {"message": f"maximum context length {w}"}, "does not state both numbers"),
    "code": (lambda *_: {"code": "invalid_value"}, "error.code is 'invalid_value'"),
    "no code": (lambda *_: {"code": None}, "error.code is None"),
    "code 500": (lambda *_: {"code": 500}, "error.code is 500"),
}


@given(lengths())
@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_each_corruption_is_a_problem(corruption: str, length: tuple[int, int]) -> None:
    change, problem = CORRUPTIONS[corruption]
    found = problems(refusal(*length, **change(*length)), prompt_tokens=length[0], window=length[1])
    assert any(problem in line for line in found), found


@given(lengths(), st.integers(1, 20))
def test_numbers_before_the_template_are_a_problem(length: tuple[int, int], missing: int) -> None:
    tokens, window = length
    answer = refusal(tokens, window, message=f"maximum context length is {window}, you sent {tokens + missing}")
    assert problems(answer, prompt_tokens=tokens, window=window)


def test_a_full_window_states_its_number_twice() -> None:
    once = refusal(64, 64, message="maximum context length is 64 tokens")
    assert problems(once, prompt_tokens=64, window=64) != []
    assert problems(refusal(64, 64), prompt_tokens=64, window=64) == []


@given(
    st.binary() | st.text().map(str.encode) | st.sampled_from([b'{"error": []}', b'{"error": {"message": 3}}', b"3"])
)
def test_no_body_breaks_the_reader(body: bytes) -> None:
    answer = Answer(400, JSON, body)
    assert isinstance(error_object(answer), dict)
    assert problems(answer, prompt_tokens=9, window=8) != []
    assert not is_error_object(answer)
