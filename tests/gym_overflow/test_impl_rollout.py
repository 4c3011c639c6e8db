"""The rollout client: Gym's measured retries, and an overflow that costs one request and no gradient."""

from __future__ import annotations

import socket
import threading
import time
from typing import TYPE_CHECKING

import httpx
import pytest
import respx
import uvicorn

from impl.gym_overflow.endpoint import create_app
from impl.gym_overflow.overflow import context_length_overflow_message, overflow_error
from impl.gym_overflow.retries import GYM_0_7_0, POLICIES, RetryPolicy
from impl.gym_overflow.rollout import RolloutClient, RolloutCompletion

if TYPE_CHECKING:
    from collections.abc import Iterator

HISTORY = [{"role": "user", "content": "hello"}]
URL = "http://endpoint"
SERVED = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop", "token_ids": [1, 2]}]}


async def turn(
    router: respx.Router, policy: RetryPolicy = GYM_0_7_0, history: list[dict[str, object]] = HISTORY
) -> RolloutCompletion:
    transport = httpx.MockTransport(router.async_handler)
    options = {"transport": transport, "first_wait": 0.0, "longest_wait": 0.0}
    async with RolloutClient(URL, model="m", policy=policy, **options) as client:
        return await client.turn(history)


def answering(*responses: httpx.Response) -> tuple[respx.Router, respx.Route]:
    router = respx.Router(assert_all_called=False)
    route = router.post(f"{URL}/v1/chat/completions")
    route.side_effect = list(responses) if len(responses) > 1 else lambda _: responses[0]
    return router, route


def overflow() -> httpx.Response:
    return httpx.Response(400, json=overflow_error(context_length_overflow_message(70, 64), param="messages"))


pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("gym", POLICIES)
async def test_an_overflow_costs_one_request_and_masks_the_turn(gym: str) -> None:
    router, route = answering(overflow())
    completion = await turn(router, POLICIES[gym])
    assert route.call_count == 1
    assert completion == RolloutCompletion(text="", finish_reason="length", masked=True)
    assert len(completion.prompt_token_ids) == len(completion.generation_token_ids) == 0


MEASURED = [
    *((gym, status, 1) for gym in POLICIES for status in (400, 401, 409, 413, 422, 501)),
    *((gym, 500, 3) for gym in POLICIES),
    *((gym, status, 1) for gym in ("0.2.0", "0.4.0", "0.5.0") for status in (404, 408)),
    *(("0.7.0", status, 3) for status in (404, 408)),
    *((gym, status, 3) for gym in ("0.2.0", "0.7.0") for status in (429, 502, 503, 504, 520)),
]


@pytest.mark.parametrize(("gym", "status", "requests"), MEASURED)
async def test_every_status_costs_the_requests_that_were_measured(gym: str, status: int, requests: int) -> None:
    router, route = answering(httpx.Response(status, json={"error": {"message": "max_tokens is odd"}}))
    with pytest.raises(httpx.HTTPStatusError) as caught:
        await turn(router, POLICIES[gym])
    assert caught.value.response.status_code == status
    assert route.call_count == requests


@pytest.mark.parametrize("gym", ["0.4.0", "0.5.0"])
@pytest.mark.parametrize("status", [429, 502, 503, 504, 520])
async def test_some_releases_repeat_without_end(gym: str, status: int) -> None:
    router, route = answering(*[httpx.Response(status)] * 25, httpx.Response(200, json=SERVED))
    assert (await turn(router, POLICIES[gym])).text == "hi"
    assert route.call_count == 26


async def test_an_overflow_after_a_failure_still_ends_the_rollout() -> None:
    router, route = answering(httpx.Response(500), overflow())
    assert (await turn(router)).masked
    assert route.call_count == 2


async def test_a_400_that_echoes_an_overflow_is_raised() -> None:
    text = context_length_overflow_message(70, 64)
    router, _ = answering(httpx.Response(400, json={"error": {"message": text}}))
    with pytest.raises(httpx.HTTPStatusError):
        await turn(router, history=[{"role": "user", "content": text}])


async def test_a_turn_keeps_its_ids() -> None:
    router, _ = answering(httpx.Response(200, json=SERVED))
    completion = await turn(router)
    assert completion.generation_token_ids == (1, 2)
    assert not completion.masked
    assert completion.as_message()["generation_token_ids"] == [1, 2]


@pytest.fixture(scope="module")
def live_url() -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(create_app(window=64), log_level="warning"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


async def test_a_rollout_against_a_live_server_ends_where_its_window_does(live_url: str) -> None:
    history: list[dict[str, object]] = [{"role": "user", "content": "go on"}]
    lengths = []
    async with RolloutClient(live_url, model="reference") as client:
        for _ in range(20):
            completion = await client.turn(history, max_tokens=8, ignore_eos=True)
            if completion.masked:
                break
            assert len(completion.generation_log_probs) == len(completion.generation_token_ids) > 0
            lengths.append(len(completion.prompt_token_ids))
            history += [completion.as_message(), {"role": "user", "content": "more"}]
    assert completion == RolloutCompletion.overflowed()
    assert lengths == sorted(set(lengths))
    assert lengths[-1] < 64
