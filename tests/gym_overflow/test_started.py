"""A server that an adapter starts by its command, and stops again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import httpx
import pytest

from contracts.gym_overflow.started import Started

if TYPE_CHECKING:
    from pathlib import Path

SERVE = [sys.executable, "-u", "-m", "http.server", "{port}", "--bind", "127.0.0.1"]


def test_a_server_answers_while_its_adapter_is_open(tmp_path: Path) -> None:
    (tmp_path / "found").write_text("here", encoding="utf-8")
    with Started([*SERVE, "--directory", str(tmp_path)], ready="/", name="files", capabilities={"streaming"}) as server:
        assert server.request("GET", "/found").text == "here"
        assert (server.name, server.capabilities) == ("files", {"streaming"})
        assert "Serving HTTP" in server.log
        url = server.url
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_the_environment_is_added_to() -> None:
    script = "import os; raise SystemExit(os.environ['GREETING'] + os.environ['PATH'][:0])"
    with pytest.raises(RuntimeError, match="ended with 1; it wrote:\nhello"):
        Started([sys.executable, "-c", script], env={"GREETING": "hello"}).wait()


def test_a_server_that_does_not_come_up_is_stopped_and_its_last_words_are_told() -> None:
    silent = [sys.executable, "-u", "-c", "import time; print('loading'); time.sleep(600)"]
    with pytest.raises(RuntimeError, match="did not come up in time; it wrote:\nloading"):
        Started(silent, start_s=5.0).wait()


def test_what_a_server_started_is_stopped_with_it(tmp_path: Path) -> None:
    child = "import subprocess, sys; subprocess.run(sys.argv[1:], check=False)"
    command = [sys.executable, "-c", child, *SERVE, "--directory", str(tmp_path)]
    with Started(command, ready="/") as server:
        url = server.url
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)
