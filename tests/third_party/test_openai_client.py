"""OpenAI's own client against the reference endpoint: what its users see of an overflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts.http import served
from impl.gym_overflow.endpoint import create_app, final_prompt_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    import openai

pytestmark = pytest.mark.third_party("openai")

WINDOW = 64
CHAT = "/v1/chat/completions"


class Counting:
    """An application that counts the requests that reach it."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.requests = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.requests += scope["type"] == "http"
        await self.app(scope, receive, send)


@pytest.fixture(scope="module")
def endpoint() -> Counting:
    return Counting(create_app(model="tiny", window=WINDOW))


@pytest.fixture(scope="module")
def client(endpoint: Counting) -> Iterator[openai.OpenAI]:
    import openai  # noqa: PLC0415 - only where it is installed

    with served(endpoint) as url, openai.OpenAI(base_url=f"{url}/v1", api_key="none") as opened:
        yield opened


def messages(tokens: int) -> list[dict[str, str]]:
    """A conversation whose final prompt has exactly that many tokens."""
    text = ""
    while final_prompt_tokens(CHAT, {"model": "tiny", "messages": [{"role": "user", "content": text}]}) < tokens:
        text += "a"
    return [{"role": "user", "content": text}]


@pytest.mark.parametrize("offset", [0, 1, 40])
@pytest.mark.parametrize("stream", [False, True])
def test_an_overflow_is_a_bad_request_with_its_code_after_one_request(
    client: openai.OpenAI, endpoint: Counting, offset: int, *, stream: bool
) -> None:
    import openai  # noqa: PLC0415

    before = endpoint.requests
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="tiny", messages=messages(WINDOW + offset), stream=stream)
    error = caught.value
    assert (error.status_code, error.code, error.param) == (400, "context_length_exceeded", "messages")
    assert error.type == "invalid_request_error"
    assert f"maximum context length is {WINDOW} tokens" in error.message
    assert f"contains {WINDOW + offset} tokens" in error.message
    assert endpoint.requests == before + 1


@pytest.mark.parametrize("route", ["completions", "responses"])
def test_the_other_routes_say_the_same(client: openai.OpenAI, route: str) -> None:
    import openai  # noqa: PLC0415

    prompt = "prompt" if route == "completions" else "input"
    with pytest.raises(openai.BadRequestError) as caught:
        getattr(client, route).create(model="tiny", **{prompt: "a" * 10 * WINDOW})
    assert caught.value.code == "context_length_exceeded"


def test_a_client_bug_is_a_bad_request_with_another_code(client: openai.OpenAI) -> None:
    import openai  # noqa: PLC0415

    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="tiny", messages=messages(20), max_tokens=0)
    assert caught.value.code != "context_length_exceeded"


def test_a_model_that_is_not_served_is_not_found(client: openai.OpenAI) -> None:
    import openai  # noqa: PLC0415

    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="another", messages=messages(20))


def test_what_fits_is_read_to_its_end(client: openai.OpenAI) -> None:
    asked: Any = {
        "model": "tiny",
        "messages": messages(WINDOW - 4),
        "max_tokens": 100,
        "extra_body": {"ignore_eos": True},
    }
    answer = client.chat.completions.create(**asked)
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage is not None
    assert answer.usage.total_tokens == WINDOW
    chunks = list(client.chat.completions.create(**asked, stream=True))
    assert [choice.finish_reason for chunk in chunks for choice in chunk.choices if choice.finish_reason] == ["length"]
    assert [model.id for model in client.models.list()] == ["tiny"]
