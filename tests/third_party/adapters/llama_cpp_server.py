"""llama.cpp's HTTP server, from the wheel of xllamacpp. As a program: ``llama_cpp_server.py MODEL.gguf PORT``."""

from __future__ import annotations

import importlib.metadata
import signal
import sys
from typing import TYPE_CHECKING

from contracts.gym_overflow.started import Started

if TYPE_CHECKING:
    from pathlib import Path

CAPABILITIES = frozenset(
    {"streaming", "completions", "token_prompts", "responses", "tools", "logprobs", "max_completion_tokens"}
)


class LlamaCppServer(Started):
    """The server over a GGUF model of one slot."""

    def __init__(self, model: Path, window: int) -> None:
        version = importlib.metadata.version("xllamacpp")
        super().__init__(
            [sys.executable, __file__, str(model), "{port}"],
            name=f"llama.cpp server (xllamacpp {version})",
            version=version,
            capabilities=CAPABILITIES,
            model="tiny",
            window=window,
        )


def main(model: str, port: str) -> None:
    """Serve until the process is told to stop."""
    import xllamacpp  # noqa: PLC0415 - only in the server's own process

    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.model_alias = {"tiny"}
    parameters.port = int(port)
    parameters.n_parallel = 1
    parameters.n_gpu_layers = 0
    parameters.cpuparams.n_threads = 1
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    print(f"serving on {server.listening_address}", flush=True)  # noqa: T201 - for whoever reads the log
    signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
