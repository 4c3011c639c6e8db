"""Runs in a process of its own: vLLM as it starts by default, an engine-core process and two workers of one group."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from impl.numerics.checkpoint import HeadShape
from impl.numerics.vllm.body import LlamaBody
from impl.numerics.vllm.checkpoint import write_folder
from impl.numerics.vllm.engine import VllmEngine
from impl.numerics.vllm.starting import require_fp32_head
from impl.numerics.vllm.switch import HeadStrategy

PROMPT = [*range(3, 27)]
TRANSPORTS = ("direct", "collective", "file", "checkpoint")


def exact(hidden: Any, weight: Any) -> Any:
    """The head's product in fp64."""
    return hidden.astype(np.float64) @ weight.astype(np.float64).T


def main(place: Path) -> dict[str, Any]:
    """Start on dummy weights, and look at the head after every transport."""
    body = LlamaBody()
    folder = write_folder(place, body.config(HeadShape()), {})
    engine = VllmEngine(body, folder, HeadStrategy.CACHED, load_format="dummy", tensor_parallel_size=2)
    found: dict[str, Any] = {"proofs": require_fp32_head(engine.llm, HeadStrategy.CACHED), "errors": {}}
    found["processes"] = engine.llm.collective_rpc("rlc_process")
    for seed, transport in enumerate(TRANSPORTS):
        weights = {name: t.float().numpy() for name, t in body.checkpoint(seed, HeadShape()).items()}
        engine.refit(weights, transport=transport)
        prefill = engine.prefill(PROMPT)
        error = np.abs(prefill.logits - exact(prefill.hidden, weights["lm_head.weight"])).max()
        found["errors"][transport] = [prefill.dtype, float(error), float(prefill.logits.max())]
    found["bytes"] = engine.head_bytes()
    engine.close()
    engine = VllmEngine(body, folder, HeadStrategy.NATIVE, load_format="dummy")
    found["native"] = require_fp32_head(engine.llm, HeadStrategy.NATIVE)
    found["processes"] += engine.llm.collective_rpc("rlc_process")
    engine.close()
    found["without_plugin"] = refusal(body, folder)
    return found


def refusal(body: LlamaBody, folder: Path) -> str:
    """What starting says where the engine's processes do not load the plugin, though this one has it."""
    os.environ["VLLM_PLUGINS"] = "another"
    try:
        VllmEngine(body, folder, HeadStrategy.PER_CALL, load_format="dummy").close()
    except Exception as error:  # noqa: BLE001 - vLLM's own class for what a worker raised
        return str(error)
    return ""


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))  # noqa: T201 - read by the test
