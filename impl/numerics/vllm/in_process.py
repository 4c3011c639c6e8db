"""vLLM engines inside this process, several of them, one after the other or at once: seconds to start, not a minute."""

from __future__ import annotations

import gc
import os
from typing import Any

ENVIRONMENT = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    # Two one-line functions of the sampler would be compiled, for 16 s at a process's first request.
    "TORCHDYNAMO_DISABLE": "1",
}


def run_in_process() -> None:
    """Set `ENVIRONMENT` for this process, where the caller has not; before vLLM is imported."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)


def spare_collector() -> None:
    """Take what is alive now out of the garbage collector's sight, until an engine of this process stops.

    vLLM collects several times as it starts; over the whole heap of a process that imported it, this is most of a tiny
    engine's start.
    """
    gc.freeze()


def release(llm: Any) -> None:
    """Stop an engine and give its memory back.

    One inside this process leaves the process groups alone, which all engines of a process share: vLLM's own shutdown
    takes them from under those that still run.
    """
    client = llm.llm_engine.engine_core
    core = getattr(client, "engine_core", None)
    if core is None:
        client.shutdown()
        return
    client._finalizer.detach()  # noqa: SLF001 - it would shut the groups down when the client is collected
    core.model_executor.shutdown()
    gc.collect()
