"""What the cached fp32 head costs a refit of real vLLM: a ratio measured in one run, and bytes.

Two engines in this process, one with vLLM's own head and one with the fp32 copy, take the same updates in turn.
Compared are the fastest of each: whatever else runs on the machine only adds.
Needs vLLM, as ``tox -e engines`` installs it: ``python benchmarks/vllm_refit.py``.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from impl.numerics.checkpoint import HeadShape, LlamaShape
from impl.numerics.vllm.body import LlamaBody
from impl.numerics.vllm.checkpoint import write_folder
from impl.numerics.vllm.in_process import run_in_process
from impl.numerics.vllm.switch import HeadStrategy

if TYPE_CHECKING:
    from impl.numerics.vllm.engine import VllmEngine

SHAPE = LlamaShape(layers=2, hidden=512, heads=8, ffn=1024, vocab=32_000)
TRANSPORTS = ("direct", "collective", "file", "checkpoint")
ROUNDS = 8
PROMPT = [*range(3, 35)]


def seconds(engine: VllmEngine, update: dict[str, object], transport: str) -> tuple[float, float]:
    """Of a refit, and of the first request after it."""
    start = time.perf_counter()
    engine.refit(update, transport=transport)
    done = time.perf_counter()
    engine.score([PROMPT])
    return done - start, time.perf_counter() - done


def main() -> None:
    """Print the table."""
    run_in_process()
    from impl.numerics.vllm.engine import VllmEngine  # noqa: PLC0415 - vLLM reads its environment as it is imported

    body = LlamaBody(SHAPE)
    states = [body.checkpoint(seed, HeadShape()) for seed in (0, 1)]
    updates = [{name: tensor.float().numpy() for name, tensor in state.items()} for state in states]
    with tempfile.TemporaryDirectory() as place:
        folder = write_folder(Path(place), body.config(HeadShape()), states[0])
        engines = {"vLLM's head": VllmEngine(body, folder), "fp32 copy": VllmEngine(body, folder, HeadStrategy.CACHED)}
        for engine in engines.values():
            seconds(engine, updates[1], "direct")
        for transport in TRANSPORTS:
            taken: dict[str, list[tuple[float, float]]] = {name: [] for name in engines}
            for turn in range(ROUNDS):
                for name, engine in engines.items():
                    taken[name].append(seconds(engine, updates[turn % 2], transport))
            (plain, first), (cached, first_cached) = (
                tuple(min(column) for column in zip(*rows, strict=True)) for rows in taken.values()
            )
            print(
                f"{transport:12} refit with the copy / without: {cached / plain:5.2f}   ({plain * 1e3:7.1f} ms without)"
            )
            print(f"{'':12} first request, the same:       {first_cached / first:5.2f}")
        held, weight = engines["fp32 copy"].head_bytes(), states[0]["lm_head.weight"].nbytes
        print(
            f"the copy holds {held} bytes, the bf16 head {weight}; vLLM's own strategy and the per-call one hold none"
        )
        for engine in engines.values():
            engine.close()


if __name__ == "__main__":
    main()
