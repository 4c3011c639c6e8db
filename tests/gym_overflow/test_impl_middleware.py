"""The middleware in front of servers that word, place and time their refusals in their own ways."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from impl.gym_overflow.in_process import Answer, InProcess
from impl.gym_overflow.middleware import OverflowMiddleware
from impl.gym_overflow.token_count import PromptCount

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from impl.gym_overflow.asgi_exchange import HeldRequest

CHAT = "/v1/chat/completions"
WINDOW = 16
ZERO = "max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)"


def words(messages: list[dict[str, Any]]) -> int:
    return sum(len((message.get("content") or "").split()) for message in messages)


class WordServer:
    """A server of one word, one token that refuses as vLLM 0.32 does, but for what a test has it do."""

    def __init__(self, refuse: Callable[[dict[str, Any]], Response] | None = None, *, tokenize: bool = True) -> None:
        self.seen: list[dict[str, Any]] = []
        self.refuse = refuse
        routes = [Route("/{path:path}", self.complete, methods=["POST"])]
        if tokenize:
            routes.insert(0, Route("/tokenize", self.tokenize, methods=["POST"]))
        self.app = Starlette(routes=routes)
        self.app.add_middleware(OverflowMiddleware)

    async def tokenize(self, request: Request) -> Response:
        body = await request.json()
        assert not any("prompt_token_ids" in message for message in body.get("messages", []))
        text = body["prompt"].split() if "prompt" in body else None
        count = words(body["messages"]) if text is None else len(text)
        return JSONResponse({"count": count, "max_model_len": WINDOW, "tokens": []})

    async def complete(self, request: Request) -> Response:
        body = await request.json()
        self.seen.append(body)
        if self.refuse is not None:
            return self.refuse(body)
        prompt, cap = words(body["messages"]), body.get("max_tokens")
        room = min(WINDOW - prompt, WINDOW if cap is None else cap)
        if cap is not None and cap > WINDOW:
            return refusal(f"max_tokens={cap} cannot be greater than max_model_len={WINDOW}. Please request fewer.")
        return refusal(ZERO) if room < 1 else JSONResponse({"served": cap})


def refusal(message: str, status: int = 400) -> Response:
    return JSONResponse({"error": {"message": message, "param": "max_tokens", "code": status}}, status)


def ask(app: Any, body: Any, path: str = CHAT) -> Answer:
    with InProcess(app) as live:
        return live.request("POST", path, json=body)


def user(count: int) -> list[dict[str, Any]]:
    return [{"role": "user", "content": " ".join(["w"] * count)}]


def assert_overflow(answer: Answer, prompt: int | None) -> None:
    assert answer.status == 400
    assert answer.headers["content-type"] == "application/json"
    assert int(answer.headers["content-length"]) == len(answer.body)
    error = json.loads(answer.body)["error"]
    assert error["code"] == "context_length_exceeded"
    assert "maximum context length" in error["message"]
    if prompt is not None:
        assert f"contains {prompt} tokens" in error["message"]
        assert f"is {WINDOW} tokens" in error["message"]


def assert_unclassified(answer: Answer) -> None:
    assert b"context length" not in answer.body.lower()
    assert b"max_tokens" not in answer.body.lower()


def test_one_answer_for_two_faults_is_told_apart_by_the_count() -> None:
    full, bug = {"messages": user(WINDOW), "max_tokens": 1}, {"messages": user(3), "max_tokens": 0}
    assert_overflow(ask(WordServer().app, full), WINDOW)
    answer = ask(WordServer().app, bug)
    assert answer.status == 400
    assert_unclassified(answer)
    assert "at least 1, got 0" in json.loads(answer.body)["error"]["message"]


@pytest.mark.parametrize(
    ("cap", "code"),
    [
        ({"max_tokens": 1}, "context_length_exceeded"),
        ({}, "context_length_exceeded"),
        ({"max_tokens": 0}, 400),
        ({"max_tokens": "0"}, 400),
    ],
)
def test_without_a_tokenizer_what_the_client_asked_for_tells(cap: dict[str, Any], code: str | int) -> None:
    server = WordServer(lambda _: refusal(ZERO), tokenize=False)
    answer = ask(server.app, {"messages": user(WINDOW), **cap})
    assert json.loads(answer.body)["error"]["code"] == code


def test_a_cap_over_the_window_is_repeated_once_with_what_fits() -> None:
    server = WordServer()
    answer = ask(server.app, {"messages": user(10), "max_tokens": 100, "min_tokens": 2})
    assert json.loads(answer.body) == {"served": 6}
    assert [body["max_tokens"] for body in server.seen] == [100, 6]


def test_a_cap_that_no_repetition_helps_is_no_overflow() -> None:
    server = WordServer(lambda _: refusal(f"max_tokens=100 cannot be greater than max_model_len={WINDOW}. Fewer."))
    answer = ask(server.app, {"messages": user(10), "max_tokens": 100})
    assert answer.status == 400
    assert_unclassified(answer)
    assert len(server.seen) == 2


def test_a_sum_that_the_server_refuses_even_clamped_is_an_overflow() -> None:
    message = (
        f"This model's maximum context length is {WINDOW} tokens. However, you requested 9 output tokens and your "
        "prompt contains at least 8 input tokens, for a total of at least 17 tokens."
    )
    server = WordServer(lambda _: refusal(message))
    assert_overflow(ask(server.app, {"messages": user(10), "max_tokens": 9}), 10)
    assert [body["max_tokens"] for body in server.seen] == [9, 6]


def test_a_server_that_dies_between_the_two_requests_is_heard() -> None:
    server = WordServer()
    server.refuse = lambda body: (
        refusal(f"max_tokens=100 cannot be greater than max_model_len={WINDOW}.")
        if body["max_tokens"] > WINDOW
        else PlainTextResponse("down", 503)
    )
    assert ask(server.app, {"messages": user(10), "max_tokens": 100}).status == 503


def test_more_output_than_fits_that_the_client_insists_on_is_not_repeated() -> None:
    server = WordServer()
    answer = ask(server.app, {"messages": user(10), "max_tokens": 100, "min_tokens": 50})
    assert answer.status == 400
    assert len(server.seen) == 1
    assert_unclassified(answer)


def history(ids: int, tail: int) -> dict[str, Any]:
    turn = {"role": "assistant", "content": "a", "prompt_token_ids": [1], "generation_token_ids": [2] * (ids - 1)}
    return {"messages": [*user(1), turn, *user(tail)], "max_tokens": 1}


@pytest.mark.parametrize(("ids", "status"), [(WINDOW - 4, 500), (WINDOW - 3, 400)])
def test_a_bare_500_after_a_spliced_history_is_counted(ids: int, status: int) -> None:
    server = WordServer(lambda _: PlainTextResponse("Internal Server Error", 500))
    answer = ask(server.app, history(ids, tail=3))
    assert answer.status == status
    if status == 400:
        assert_overflow(answer, WINDOW)


def raise_value_error(body: dict[str, Any]) -> Response:
    raise ValueError(f"max_tokens and context length of {body['messages'][0]['content']}")


def test_an_escaped_exception_is_an_overflow_only_by_count_or_own_words() -> None:
    short = ask(WordServer(raise_value_error).app, {"messages": user(3)})
    assert short.status == 500
    assert_overflow(ask(WordServer(raise_value_error).app, {"messages": user(WINDOW + 2)}), WINDOW + 2)

    def refuse_as_renderers_do(_: dict[str, Any]) -> Response:
        raise ValueError("The prompt is 99 tokens, which exceeds the model's maximum context length of 16 tokens.")

    assert_overflow(ask(WordServer(refuse_as_renderers_do, tokenize=False).app, {"messages": user(3)}), None)


@pytest.mark.parametrize("status", [401, 403, 404, 408, 409, 429, 502, 503, 504])
def test_statuses_that_say_something_else_are_kept(status: int) -> None:
    server = WordServer(lambda _: refusal("no max_tokens, no context length", status))
    answer = ask(server.app, {"messages": user(50), "max_tokens": 4})
    assert answer.status == status
    assert_unclassified(answer)


ECHO = "This model's maximum context length is 16 tokens. However, your request has 99 input tokens."


@pytest.mark.parametrize("routes", [{"tokenize": True}, {"tokenize": False}], ids=["counted", "not counted"])
def test_an_overflow_text_that_the_client_sent_is_no_overflow(routes: dict[str, bool]) -> None:
    server = WordServer(lambda body: refusal(body["messages"][0]["content"]), **routes)
    answer = ask(server.app, {"messages": [{"role": "user", "content": ECHO}], "max_tokens": 4})
    assert answer.status == 400
    assert_unclassified(answer)


@pytest.mark.parametrize(
    ("path", "body", "tokens"),
    [
        ("/v1/completions", {"prompt": "w " * 20}, 20),
        ("/v1/completions", {"prompt": ["w", "w " * 21]}, 21),
        ("/v1/completions", {"prompt": [5] * 22}, 22),
        ("/v1/completions", {"prompt": [[5], [5] * 23]}, 23),
        ("/v1/responses", {"input": "w " * 24}, 24),
        ("/v1/responses", {"input": [{"role": "user", "content": [{"type": "input_text", "text": "w"}]}]}, None),
        ("/v1/responses", {"input": "w", "instructions": "w " * 25}, 26),
        ("/v1/messages", {"messages": user(27), "system": "w"}, 28),
        ("/invocations", {"messages": user(29)}, 29),
        ("/v1/chat/completions/batch", {"messages": [user(1), user(30)]}, 30),
        ("/prefix/v1/chat/completions", {"messages": user(31), "truncate_prompt_tokens": -1}, WINDOW),
        ("/v1/chat/completions", {"messages": user(31), "truncate_prompt_tokens": 5}, None),
    ],
)
def test_every_inference_route_is_counted(path: str, body: dict[str, Any], tokens: int | None) -> None:
    server = WordServer(lambda _: PlainTextResponse("Internal Server Error", 500))
    answer = ask(server.app, body, path)
    if tokens is None:
        assert answer.status == 500
    else:
        assert_overflow(answer, tokens)


def test_an_injected_counter_is_asked_instead_of_the_route() -> None:
    asked: list[str] = []

    async def count(request: HeldRequest) -> PromptCount:
        asked.append(request.path)
        return PromptCount(WINDOW, WINDOW)

    server = WordServer(lambda _: refusal("who knows"))
    answer = ask(OverflowMiddleware(server.app, count_tokens=count), {"messages": user(1)})
    assert_overflow(answer, WINDOW)
    assert asked == [CHAT]


@pytest.mark.parametrize(
    "response",
    [
        PlainTextResponse("plain: max_tokens, Context Length", 400),
        JSONResponse({"max_tokens": {"context length": ["MAX_TOKENS", '{"x": "max_tokens"}']}}, 400),
        Response(b"\xff\xfe max_tokens \x00 context length", 400),
        Response(b'{"a": "max\\u005ftokens", "b": "context\\u0020length"}', 400, media_type="application/json"),
        Response(gzip.compress(b"max_tokens"), 400, {"content-encoding": "gzip"}),
        JSONResponse({"detail": [{"loc": ["body", "max_tokens"], "input": "context length"}]}, 422),
    ],
    ids=["text", "keys and nested JSON", "no UTF-8", "escapes", "gzip", "FastAPI's 422"],
)
def test_unrelated_errors_lose_only_the_trigger_words(response: Response) -> None:
    answer = ask(WordServer(lambda _: response).app, {"messages": user(1), "max_tokens": 2})
    assert answer.status == response.status_code
    assert_unclassified(answer)
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert b"tokens" in answer.body.lower()


@pytest.mark.parametrize("status", [400, 404, 405])
def test_a_frameworks_own_error_becomes_an_error_object(status: int) -> None:
    detail = JSONResponse({"detail": "no max_tokens here"}, status)
    answer = ask(WordServer(lambda _: detail).app, {"messages": user(1)})
    error = {"message": "no max-tokens here", "type": "invalid_request_error", "param": None, "code": status}
    assert (answer.status, json.loads(answer.body)) == (status, {"error": error})


def test_a_body_too_large_to_hold_is_still_given_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("impl.gym_overflow.middleware.LARGEST_BODY", 10)
    server = WordServer()
    assert json.loads(ask(server.app, {"messages": user(3), "max_tokens": 2}).body) == {"served": 2}
    assert_overflow(ask(WordServer(lambda _: refusal(ECHO)).app, {"messages": user(3)}), None)


def test_an_error_inside_an_open_stream_is_not_touched() -> None:
    def broken(_: dict[str, Any]) -> Response:
        async def pieces() -> Any:
            yield b"data: 1\n\n"
            raise ValueError("max_tokens")

        return StreamingResponse(pieces())

    answer = ask(WordServer(broken).app, {"messages": user(1)})
    assert (answer.status, answer.body) == (200, b"data: 1\n\n")


def test_a_counter_that_fails_leaves_the_servers_answer() -> None:
    server = WordServer(lambda _: refusal("odd max_tokens"))
    answer = ask(server.app, {"messages": [{"role": "user", "content": 5}], "max_tokens": 4})
    assert (answer.status, json.loads(answer.body)["error"]["message"]) == (400, "odd max-tokens")
