"""The recorded answers, and real vLLM servers: as it is, with the middleware, and an application of its parts."""

from __future__ import annotations

import importlib.metadata
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from contracts.gym_overflow.started import Started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    NotHere = Callable[[str, str], NoReturn]

HERE = Path(__file__).parent
MIDDLEWARE = "impl.gym_overflow.middleware.OverflowMiddleware"
CAPABILITIES = frozenset(
    {
        "streaming",
        "completions",
        "token_prompts",
        "responses",
        "tokenize",
        "tools",
        "logprobs",
        "n",
        "max_completion_tokens",
    }
)
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "PYTHONPATH": str(HERE.parents[1]),
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
}
OPTIONS = ["--host", "127.0.0.1", "--port", "{port}", "--served-model-name", "tiny", "--dtype", "float32"]
OPTIONS += ["--enforce-eager", "--max-num-seqs", "8", "--enable-auto-tool-choice", "--tool-call-parser", "hermes"]
# What `vllm serve` runs; that command itself asks for a distribution called vllm, and on CPU it is vllm-cpu.
SERVE = [sys.executable, "-m", "vllm.entrypoints.launchers.api_server.entry", "--model", "{model}", *OPTIONS]
APPLICATION = [sys.executable, str(HERE / "vllm_application.py"), "--model", "{model}", *OPTIONS]

#: By the name of its fixture: the command, what is added to "vLLM x.y.z" in reports, and what it can do.
SERVERS = {
    "vllm_plain": (SERVE, "", CAPABILITIES | {"openapi"}),
    "vllm_middleware": ([*SERVE, "--middleware", MIDDLEWARE], " + OverflowMiddleware", CAPABILITIES),
    "vllm_application": (APPLICATION, ", application with splice + OverflowMiddleware", CAPABILITIES | {"splice"}),
}


@pytest.fixture(scope="session")
def corpus(not_here: NotHere) -> Path:
    """Every recorded answer, which lies beside the repository where it lies at all; the package ships a part of it."""
    path = HERE.parents[2] / "shared" / "corpus" / "overflow_answers.jsonl"
    if not path.exists():
        not_here("corpus", f"{path} is not there")
    return path


@pytest.fixture(scope="session")
def vllm_servers(request: pytest.FixtureRequest, tiny_llama: Path) -> Iterator[dict[str, Started]]:
    """The servers that the collected tests need, all of them starting at once."""
    version = importlib.metadata.version(importlib.metadata.packages_distributions()["vllm"][0])
    needed = {name for item in request.session.items for name in getattr(item, "fixturenames", ())}
    with ExitStack() as stack:
        started = {}
        for fixture, (command, suffix, capabilities) in SERVERS.items():
            if fixture in needed:
                started[fixture] = Started(
                    [argument.replace("{model}", str(tiny_llama)) for argument in command],
                    env=ENVIRONMENT,
                    capabilities=capabilities,
                    name=f"vLLM {version}{suffix}",
                    version=version,
                )
                stack.callback(started[fixture].close)
        yield started


@pytest.fixture(scope="session")
def vllm_plain(vllm_servers: dict[str, Started]) -> Started:
    """``vllm serve``, as it is."""
    return vllm_servers["vllm_plain"].wait()


@pytest.fixture(scope="session")
def vllm_middleware(vllm_servers: dict[str, Started]) -> Started:
    """``vllm serve --middleware``."""
    return vllm_servers["vllm_middleware"].wait()


@pytest.fixture(scope="session")
def vllm_application(vllm_servers: dict[str, Started]) -> Started:
    """The application beside this file, with the middleware added to it."""
    return vllm_servers["vllm_application"].wait()
