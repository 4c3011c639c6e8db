"""The reference endpoint at its window, on every route, and its errors away from it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from impl.gym_overflow.adapter import ReferenceEndpoint, endpoint
from impl.gym_overflow.endpoint import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from impl.gym_overflow.in_process import Answer

TRIGGERS = ("context length", "max_tokens")
CHAT, TEXT, RESPONSES, TOKENIZE = "/v1/chat/completions", "/v1/completions", "/v1/responses", "/tokenize"
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def server() -> Iterator[ReferenceEndpoint]:
    with endpoint() as live:
        yield live


def user(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


def spliced(text: str) -> list[dict[str, Any]]:
    earlier = {"role": "assistant", "content": "short", "prompt_token_ids": [1] * 20}
    return [*user("hi"), {**earlier, "generation_token_ids": [2] * 30}, *user(text)]


SHAPES: dict[str, tuple[str, Any]] = {
    "chat": (CHAT, lambda text: {"messages": user(text)}),
    "chat, streamed": (CHAT, lambda text: {"messages": user(text), "stream": True}),
    "chat, n": (CHAT, lambda text: {"messages": user(text), "n": 3}),
    "chat, logprobs": (CHAT, lambda text: {"messages": user(text), "logprobs": True, "top_logprobs": 2}),
    "chat, tools": (CHAT, lambda text: {"messages": user(text), "tools": [TOOL]}),
    "chat, parts": (CHAT, lambda text: {"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]}),
    "chat, spliced": (CHAT, lambda text: {"messages": spliced(text)}),
    "chat, capped": (CHAT, lambda text: {"messages": user(text), "max_tokens": 5}),
    "chat, capped anew": (CHAT, lambda text: {"messages": user(text), "max_completion_tokens": 5}),
    "text": (TEXT, lambda text: {"prompt": text}),
    "text, streamed": (TEXT, lambda text: {"prompt": text, "stream": True}),
    "text, ids": (TEXT, lambda text: {"prompt": [7] * len(text)}),
    "text, several": (TEXT, lambda text: {"prompt": ["y", text]}),
    "responses": (RESPONSES, lambda text: {"input": text}),
    "responses, streamed": (RESPONSES, lambda text: {"input": text, "stream": True}),
    "responses, instructed": (RESPONSES, lambda text: {"input": "hi", "instructions": text}),
    "tokenize, chat": (TOKENIZE, lambda text: {"messages": user(text)}),
    "tokenize, text": (TOKENIZE, lambda text: {"prompt": text}),
}


def request_of_length(server: ReferenceEndpoint, shape: str, tokens: int) -> tuple[str, dict[str, Any]]:
    path, build = SHAPES[shape]
    base = server.count_tokens(path, {"model": server.model, **build("x")})
    body = {"model": server.model, **build("x" * (tokens - base + 1))}
    assert server.count_tokens(path, body) == tokens
    return path, body


def assert_overflow(answer: Answer, prompt: int, window: int) -> None:
    assert (answer.status, answer.streamed) == (400, False)
    assert answer.headers["content-type"] == "application/json"
    error = json.loads(answer.body)["error"]
    assert error["code"] == "context_length_exceeded"
    assert f"maximum context length is {window} tokens" in error["message"]
    assert f"contains {prompt} tokens" in error["message"]


@pytest.mark.parametrize("over", [0, 1, 500])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_prompt_that_fills_the_window_is_refused_before_any_byte(
    server: ReferenceEndpoint, shape: str, over: int
) -> None:
    path, body = request_of_length(server, shape, server.window + over)
    assert_overflow(server.request("POST", path, json=body), server.window + over, server.window)


@pytest.mark.parametrize("shape", SHAPES)
def test_one_token_of_room_is_served(server: ReferenceEndpoint, shape: str) -> None:
    path, body = request_of_length(server, shape, server.window - 1)
    answer = server.request("POST", path, json=body)
    assert answer.status == 200
    assert answer.streamed is bool(body.get("stream"))


@pytest.mark.parametrize(
    ("path", "cap", "prompt"),
    [
        (CHAT, "max_tokens", {"messages": user("hello")}),
        (CHAT, "max_completion_tokens", {"messages": user("hello")}),
        (TEXT, "max_tokens", {"prompt": "hello"}),
        (RESPONSES, "max_output_tokens", {"input": "hello"}),
    ],
)
def test_more_output_than_fits_is_clamped(server: ReferenceEndpoint, path: str, cap: str, prompt: Any) -> None:
    body = {"model": server.model, **prompt, cap: 10**12, "ignore_eos": True, "temperature": 0}
    answer = json.loads(server.request("POST", path, json=body).body)
    usage = answer["usage"]
    if path == RESPONSES:
        assert usage["total_tokens"] <= server.window
        assert answer["status"] == "incomplete" or usage["total_tokens"] < server.window
    else:
        assert answer["choices"][0]["finish_reason"] == "length"
        assert usage["total_tokens"] == server.window


def test_the_newer_cap_wins(server: ReferenceEndpoint) -> None:
    body = {"model": server.model, "messages": user("x"), "ignore_eos": True, "max_tokens": 9}
    answer = server.request("POST", CHAT, json={**body, "max_completion_tokens": 4})
    assert json.loads(answer.body)["usage"]["completion_tokens"] == 4


def test_a_stream_carries_the_whole_answer_and_its_usage(server: ReferenceEndpoint) -> None:
    body = {"model": server.model, "messages": user("x"), "max_tokens": 9, "n": 2, "ignore_eos": True}
    whole = json.loads(server.request("POST", CHAT, json=body).body)
    streamed = server.request("POST", CHAT, json={**body, "stream": True, "stream_options": {"include_usage": True}})
    events = [line.removeprefix("data: ") for line in streamed.body.decode().splitlines() if line]
    assert events[-1] == "[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    assert chunks[-1]["usage"] == whole["usage"]
    for choice in whole["choices"]:
        parts = [one for chunk in chunks for one in chunk["choices"] if one["index"] == choice["index"]]
        assert "".join(part["delta"]["content"] for part in parts) == choice["message"]["content"]
        assert parts[-1]["finish_reason"] == choice["finish_reason"] == "length"


def test_a_turns_own_ids_are_the_prefix_of_the_next_prompt(server: ReferenceEndpoint) -> None:
    body = {"model": server.model, "max_tokens": 6, "return_token_ids": True}
    first = json.loads(server.request("POST", CHAT, json={**body, "messages": user("one")}).body)
    ids = first["prompt_token_ids"] + first["choices"][0]["token_ids"]
    turn = {
        "role": "assistant",
        "content": "other text",
        "prompt_token_ids": first["prompt_token_ids"],
        "generation_token_ids": first["choices"][0]["token_ids"],
    }
    history = [*user("one"), turn, *user("two")]
    second = json.loads(server.request("POST", CHAT, json={**body, "messages": history}).body)
    assert second["prompt_token_ids"][: len(ids)] == ids
    assert second["usage"]["prompt_tokens"] == server.count_tokens(CHAT, {**body, "messages": history})


WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "no output": (CHAT, {"max_tokens": 0}),
    "negative output": (CHAT, {"max_tokens": -1}),
    "output as text": (CHAT, {"max_tokens": "abc max_tokens context length"}),
    "output as text of digits": (CHAT, {"max_tokens": "5"}),
    "no output, anew": (CHAT, {"max_completion_tokens": 0}),
    "least above most": (CHAT, {"max_tokens": 3, "min_tokens": 4}),
    "hot": (CHAT, {"temperature": 9, "max_tokens": 5}),
    "unknown role": (CHAT, {"messages": [{"role": "context length", "content": "max_tokens"}], "max_tokens": 5}),
    "unknown part": (CHAT, {"messages": [{"role": "user", "content": [{"type": "max_tokens", "context length": 1}]}]}),
    "no messages": (CHAT, {"messages": [], "max_tokens": 5}),
    "stop of numbers": (CHAT, {"stop": [1, 2], "max_tokens": 5}),
    "tool without a name": (CHAT, {"tools": [{"type": "function", "function": {"context length": "max_tokens"}}]}),
    "unknown model": (CHAT, {"model": "max_tokens context length"}),
    "text: no output": (TEXT, {"prompt": "context length", "max_tokens": 0}),
    "text: no prompt": (TEXT, {"max_tokens": 5}),
    "text: empty list": (TEXT, {"prompt": [], "max_tokens": 5}),
    "text: unknown model": (TEXT, {"prompt": "x", "model": "context length"}),
    "responses: no output": (RESPONSES, {"input": "x", "max_output_tokens": 0}),
    "responses: odd item": (RESPONSES, {"input": [{"type": "context length", "max_tokens": 1}]}),
    "tokenize: no prompt": (TOKENIZE, {"max_tokens": 5}),
}


@pytest.mark.parametrize("case", WRONG)
def test_no_other_error_holds_a_trigger_word_or_echoes_the_request(server: ReferenceEndpoint, case: str) -> None:
    path, fields = WRONG[case]
    base: dict[str, Any] = {"model": server.model} | ({"messages": user("max_tokens")} if path == CHAT else {})
    answer = server.request("POST", path, json={**base, **fields})
    assert answer.status == (404 if "unknown model" in case else 400)
    error = json.loads(answer.body)["error"]
    assert error["type"] == "invalid_request_error"
    assert not any(word in answer.body.decode().lower() for word in TRIGGERS)
    assert "abc" not in error["message"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[1, 2]",
        b'"max_tokens"',
        b"\xff\xfe max_tokens",
        b'{"model": NaN, "max_tokens": 4}',
        b'{"model": "reference", "max_tokens": Infinity, "messages": [{"role": "user", "content": "x"}]}',
        b'{"model": "reference", "temperature": 1e999, "messages": [{"role": "user", "content": "x"}]}',
        b'{"model": "reference", "messages": [{"role": "user", "content": "\\ud800"}]}',
        b'{"model": "reference", "x": "\\ud800", "messages": [{"role": "user", "content": "x"}]}',
        b"[" * 100_000,
        b'{"model": "reference", "max_tokens": 1' + b"0" * 6000 + b"}",
    ],
    ids=lambda body: repr(body[:40]),
)
@pytest.mark.parametrize("media_type", ["application/json", "text/plain", None])
def test_what_is_no_json_request_is_a_plain_400(server: ReferenceEndpoint, body: bytes, media_type: str | None) -> None:
    headers = {} if media_type is None else {"content-type": media_type}
    answer = server.request("POST", CHAT, content=body, headers=headers)
    assert answer.status == 400
    assert set(json.loads(answer.body)["error"]) == {"message", "type", "param", "code"}
    assert not any(word in answer.body.decode() for word in TRIGGERS)


def test_json_without_a_media_type_is_read(server: ReferenceEndpoint) -> None:
    body = json.dumps({"model": server.model, "messages": user("x"), "max_tokens": 1}).encode()
    assert server.request("POST", CHAT, content=body).status == 200


def test_megabytes_of_prompt_are_an_overflow_with_their_true_length(server: ReferenceEndpoint) -> None:
    body = {"model": server.model, "messages": user("x" * 3_000_000)}
    assert_overflow(server.request("POST", CHAT, json=body), 3_000_003, server.window)


def test_unknown_fields_and_trigger_words_change_nothing(server: ReferenceEndpoint) -> None:
    body = {"model": server.model, "messages": user("max_tokens: context length"), "stop": "context length"}
    assert server.request("POST", CHAT, json={**body, "max_tokens_context length": 1}).status == 200


def test_other_methods_and_paths_are_refused_with_the_error_object(server: ReferenceEndpoint) -> None:
    wrong_method = server.request("DELETE", CHAT)
    assert (wrong_method.status, wrong_method.headers["allow"]) == (405, "POST")
    wrong_path = server.request("GET", "/max_tokens/context%20length")
    assert wrong_path.status == 404
    for answer in (wrong_method, wrong_path):
        assert json.loads(answer.body)["error"]["type"] == "invalid_request_error"


def test_the_window_is_in_the_model_card(server: ReferenceEndpoint) -> None:
    cards = json.loads(server.request("GET", "/v1/models?limit=%00").body)["data"]
    assert [(card["id"], card["max_model_len"]) for card in cards] == [(server.model, server.window)]
    assert server.request("GET", "/health").status == 200


def test_an_unrelated_value_error_stays_a_500_without_trigger_words(server: ReferenceEndpoint) -> None:
    message = "cannot read 'maximum context length' of max_tokens"
    body = {"model": server.model, "messages": user("x")}
    answer = server.internal_fault(message, "POST", CHAT, body)
    assert answer.status == 500
    assert json.loads(answer.body)["error"]["type"] == "server_error"
    assert not any(word in answer.body.decode() for word in TRIGGERS)
    assert_overflow(
        server.internal_fault(message, "POST", CHAT, {**body, "messages": user("x" * server.window)}),
        server.window + 3,
        server.window,
    )


def test_an_overflow_that_only_the_engine_finds_is_a_400(server: ReferenceEndpoint) -> None:
    found = "The decoder prompt (length 70) is longer than the maximum model length of 64."
    answer = server.internal_fault(found, "POST", CHAT, {"model": server.model, "messages": user("x")})
    assert answer.status == 400
    assert json.loads(answer.body)["error"]["code"] == "context_length_exceeded"
    assert b"maximum context length is 64 tokens" in answer.body


def test_concurrent_requests_get_the_verdicts_they_get_alone(server: ReferenceEndpoint) -> None:
    bodies = [{"model": server.model, "messages": user("x" * length)} for length in range(100, 140)]
    alone = [server.request("POST", CHAT, json=body) for body in bodies]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda body: server.request("POST", CHAT, json=body), bodies * 3))
    assert [answer.body for answer in together] == [answer.body for answer in alone] * 3
    assert {answer.status for answer in alone} == {200, 400}


def test_a_window_without_room_for_both_sides_is_refused() -> None:
    with pytest.raises(ValueError, match="window is 1 tokens"):
        create_app(window=1)
