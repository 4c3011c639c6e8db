"""The adapter in this process, and the server command in its own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pydantic
import pytest

from impl.gym_overflow.adapter import endpoint

ROOT = Path(__file__).parents[2]


def test_the_adapter_names_itself_and_its_window() -> None:
    with endpoint() as live:
        assert live.name
        assert live.version
        assert {"streaming", "splice", "openapi"} <= live.capabilities
        cards = json.loads(live.request("GET", "/v1/models").body)["data"]
        assert (cards[0]["id"], cards[0]["max_model_len"]) == (live.model, live.window)


def test_the_adapters_count_is_the_endpoints() -> None:
    body = {"messages": [{"role": "user", "content": "h\u00e9"}], "model": "reference", "max_tokens": 1}
    with endpoint() as live:
        usage = json.loads(live.request("POST", "/v1/chat/completions", json=body).body)["usage"]
        assert live.count_tokens("/v1/chat/completions", body) == usage["prompt_tokens"] == 6
        with pytest.raises(pydantic.ValidationError):
            live.count_tokens("/v1/chat/completions", {"messages": []})
        with pytest.raises(LookupError, match="/v1/models takes no prompt"):
            live.count_tokens("/v1/models", {})


def test_the_command_serves_until_interrupted() -> None:
    command = [sys.executable, "-m", "impl.gym_overflow", "--port", "0", "--window", "32", "--model", "tiny"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own module
        assert process.stderr is not None
        try:
            address = next(
                found[0] for line in process.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+", line))
            )
            body = {"model": "tiny", "prompt": "x" * 32}
            answer = httpx.post(f"{address}/v1/completions", json=body, timeout=30)
            assert answer.status_code == 400
            assert "maximum context length is 32 tokens" in answer.json()["error"]["message"]
        finally:
            process.send_signal(signal.SIGINT)
            rest = process.stderr.read()
    assert "Finished server process" in rest


def test_a_window_that_cannot_work_is_a_usage_error() -> None:
    command = [sys.executable, "-m", "impl.gym_overflow", "--window", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own module
    assert done.returncode == 2
    assert "window is 1 tokens" in done.stderr
