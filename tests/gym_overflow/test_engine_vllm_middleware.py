"""The same vLLM server with the middleware: every check that binds a server holds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from contracts import KnownFailure, gym_overflow

if TYPE_CHECKING:
    from contracts.gym_overflow.started import Started
    from contracts.http import Answer

pytestmark = pytest.mark.engine("vllm")

WINDOW = 128
TEMPLATE_TOKENS = len("user: \nassistant: ")
KNOWN = {
    "GO-401": KnownFailure(
        "vLLM's own /openapi.json is still served and types error.code as a number, where the middleware answers "
        "OpenAI's context_length_exceeded.",
        issue="docs/vllm.md",
    )
}


@pytest.fixture
def adapter(vllm_middleware: Started) -> Started:
    return vllm_middleware


@gym_overflow.endpoint.parametrize(known_failures=KNOWN)
def test_vllm_with_the_middleware_meets_the_contract(adapter: Started, check: Any) -> None:
    check.verify(adapter)


def ask(server: Started, tokens: int, **fields: Any) -> Answer:
    content = "a" * (tokens - TEMPLATE_TOKENS)
    body = {"model": "tiny", "messages": [{"role": "user", "content": content}], **fields}
    return server.request("POST", "/v1/chat/completions", json=body)


def test_the_pair_that_vllm_answers_alike_is_told_apart(vllm_plain: Started, vllm_middleware: Started) -> None:
    pair = ({"tokens": WINDOW, "max_tokens": 1}, {"tokens": 50, "max_tokens": 0})
    plain = [ask(vllm_plain, **one) for one in pair]
    assert plain[0].body == plain[1].body
    full, bug = (ask(vllm_middleware, **one) for one in pair)
    assert (full.status, bug.status) == (400, 400)
    assert full.json["error"]["code"] == "context_length_exceeded"
    assert f"contains {WINDOW} tokens" in full.json["error"]["message"]
    assert "max_tokens" not in bug.text
    assert "must be at least 1, got 0" in bug.json["error"]["message"]


def test_a_cap_over_the_window_is_served_with_what_fits(vllm_middleware: Started) -> None:
    answer = ask(vllm_middleware, 100, max_tokens=10**9, ignore_eos=True).json
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["total_tokens"] == WINDOW


def test_the_true_length_is_told_where_vllm_stops_counting(vllm_plain: Started, vllm_middleware: Started) -> None:
    assert f"at least {WINDOW + 1} input tokens" in ask(vllm_plain, 200).text
    assert "contains 200 tokens" in json.dumps(ask(vllm_middleware, 200).json)
