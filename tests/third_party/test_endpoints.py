"""OpenAI-compatible servers of others that run on CPU, held to the endpoint contract.

What each of them fails stands in ``known_failures``. Not here: mistralrs, whose wheel (0.9.5) holds no HTTP server, and
llama-cpp-python, which comes only as source and takes longer to build than all else here together; llama.cpp's own
server is in the wheel of xllamacpp.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contracts import gym_overflow
from contracts.known import known_failures_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llama_cpp_server import LlamaCppServer
    from transformers_server import TransformersServer

    from contracts.check import Check
    from contracts.gym_overflow.started import Started

# Others' deprecations are theirs.
pytestmark = pytest.mark.filterwarnings("default")

KNOWN = {
    name: known_failures_of(Path(__file__).parent / "known_failures" / f"{name}.toml")
    for name in ("transformers_serve", "llama_cpp_server")
}


@pytest.fixture(scope="module")
def servers(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Started]]:
    """All of them, starting at once."""
    from llama_cpp_server import LlamaCppServer  # noqa: PLC0415 - only where they are installed
    from tiny_gguf import write_gguf  # noqa: PLC0415
    from transformers_server import TransformersServer  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("servers")
    window = json.loads((tiny_llama / "config.json").read_text(encoding="utf-8"))["max_position_embeddings"]
    write_gguf(tiny_llama, folder / "tiny.gguf")
    with ExitStack() as stack:
        started: dict[str, Started] = {}
        for name, start in (
            ("transformers", lambda: TransformersServer(tiny_llama, folder)),
            ("llama.cpp", lambda: LlamaCppServer(folder / "tiny.gguf", window)),
        ):
            started[name] = start()
            stack.callback(started[name].close)
        yield started


@pytest.mark.third_party("transformers", "uvicorn", "openai", "accelerate", "xllamacpp", "gguf")
class TestTransformersServe:
    @pytest.fixture
    def adapter(self, servers: dict[str, TransformersServer]) -> TransformersServer:
        return servers["transformers"].wait()

    @gym_overflow.endpoint.parametrize(known_failures=KNOWN["transformers_serve"])
    def test_check(self, adapter: TransformersServer, check: Check[Any]) -> None:
        check.verify(adapter)


@pytest.mark.third_party("transformers", "uvicorn", "openai", "accelerate", "xllamacpp", "gguf")
class TestLlamaCppServer:
    @pytest.fixture
    def adapter(self, servers: dict[str, LlamaCppServer]) -> LlamaCppServer:
        return servers["llama.cpp"].wait()

    @gym_overflow.endpoint.parametrize(known_failures=KNOWN["llama_cpp_server"])
    def test_check(self, adapter: LlamaCppServer, check: Check[Any]) -> None:
        check.verify(adapter)
