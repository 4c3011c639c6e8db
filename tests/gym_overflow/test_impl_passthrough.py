"""What the middleware must not touch, and what it must not cost."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio

from impl.gym_overflow.endpoint import create_app
from impl.gym_overflow.in_process import InProcess
from impl.gym_overflow.middleware import OverflowMiddleware

ROOT = Path(__file__).parents[2]
CHAT = "/v1/chat/completions"
WINDOW = 16


def test_a_successful_answer_passes_piece_by_piece_and_unchanged() -> None:
    released = anyio.Event()

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"max_tokens ", "more_body": True})
        await released.wait()
        await send({"type": "http.response.body", "body": b"context length"})

    got: list[bytes] = []

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            got.append(message["body"])
            released.set()

    async def receive() -> Any:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    scope = {"type": "http", "method": "POST", "path": CHAT, "headers": []}

    async def run() -> None:
        with anyio.fail_after(10):
            await OverflowMiddleware(app)(scope, receive, send)

    anyio.run(run)
    assert got == [b"max_tokens ", b"context length"]


def test_the_reference_endpoint_passes_through_unchanged() -> None:
    bare, wrapped = create_app(window=WINDOW), create_app(window=WINDOW)
    wrapped.add_middleware(OverflowMiddleware)
    requests = [
        {"model": "reference", "messages": [{"role": "user", "content": "x" * length}], **extra}
        for length in (1, WINDOW - 4, WINDOW - 3, 500)
        for extra in ({}, {"max_tokens": 0}, {"stream": True}, {"max_tokens": 999})
    ]
    with InProcess(bare) as one, InProcess(wrapped) as other:
        for body in requests:
            want, got = (live.request("POST", CHAT, json=body) for live in (one, other))
            if body.get("max_tokens") == 0 and len(body["messages"][0]["content"]) > WINDOW - 4:
                assert b"context_length_exceeded" in got.body  # two faults at once: the count decides
            else:
                assert (got.status, got.streamed) == (want.status, want.streamed)
                same = got.body == want.body
                assert same or json.loads(got.body) == json.loads(want.body)


def test_a_server_loads_nothing_heavy_with_the_middleware() -> None:
    script = "import impl.gym_overflow.middleware, sys; print([one for one in sys.modules if '.' not in one])"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 - our own script
    assert not {"fastapi", "httpx", "pydantic", "starlette", "stamina"} & set(ast.literal_eval(done.stdout))
