"""Real vLLM on a CUDA device: the contract, captured graphs, and a drafter. Needs a CUDA build of vLLM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from contracts.numerics import head
from impl.numerics.checkpoint import HeadShape
from impl.numerics.vllm.adapter import VllmAdapter, vllm_cached, vllm_native, vllm_nemotron_h, vllm_per_call
from impl.numerics.vllm.body import LlamaBody
from impl.numerics.vllm.checkpoint import write_folder
from impl.numerics.vllm.in_process import run_in_process
from impl.numerics.vllm.switch import HeadStrategy

if TYPE_CHECKING:
    from pathlib import Path

    from contracts import Check, Mutant
    from impl.numerics.vllm.engine import VllmEngine

pytestmark = [
    pytest.mark.gpu("vllm"),
    pytest.mark.filterwarnings("ignore"),  # vLLM's own, as it is imported and started
]

ADAPTERS = (vllm_cached(), vllm_native(), vllm_per_call(), vllm_nemotron_h())
CHECKS = [(adapter, check) for adapter in ADAPTERS for check in head.checks if not check.missing(adapter)]
MUTANTS = [(ADAPTERS[0], mutant) for mutant in head.mutants if not mutant.check.missing(ADAPTERS[0])]
PROMPT = [*range(3, 43)]
GRAPHS: dict[str, Any] = {"enforce_eager": False, "compilation_config": {"cudagraph_capture_sizes": [1, 8, 64]}}


@pytest.mark.parametrize(("adapter", "check"), CHECKS, ids=[f"{a.name}-{c.id}" for a, c in CHECKS])
def test_head(adapter: VllmAdapter, check: Check[Any]) -> None:
    check.verify(adapter, case=check.examples[0] if check.takes_case else None)


@pytest.mark.parametrize(("adapter", "mutant"), MUTANTS, ids=[f"{a.name}-{m.id}" for a, m in MUTANTS])
def test_head_mutant(adapter: VllmAdapter, mutant: Mutant[Any]) -> None:
    mutant.verify_killed(adapter)


def started(place: Path, seed: int, **options: Any) -> tuple[VllmEngine, dict[str, Any]]:
    """An engine with a cached head, and its weights."""
    run_in_process()
    from impl.numerics.vllm.engine import VllmEngine  # noqa: PLC0415 - vLLM reads its environment as it is imported

    body = LlamaBody()
    state = body.checkpoint(seed, HeadShape())
    folder = write_folder(place / str(seed), body.config(HeadShape()), state)
    weights = {name: tensor.float().numpy() for name, tensor in state.items()}
    return VllmEngine(body, folder, HeadStrategy.CACHED, **options), weights


def test_under_captured_graphs_a_refit_keeps_the_storage_and_the_bits(tmp_path: Path) -> None:
    fresh, weights = started(tmp_path, 1, **GRAPHS)
    want = fresh.generate([PROMPT] * 3, max_tokens=8, seed=0)
    fresh.close()
    engine, _ = started(tmp_path, 0, load_format="dummy", **GRAPHS)
    engine.generate([PROMPT] * 3, max_tokens=8, seed=0)
    address = engine.head_storage()
    for transport in ("direct", "collective", "file", "checkpoint"):
        engine.refit(weights, transport=transport)
        assert engine.generate([PROMPT] * 3, max_tokens=8, seed=0) == want, transport
        assert engine.head_storage() == address
    engine.close()


def test_a_drafter_has_its_own_head_and_changes_no_logprob_beyond_the_batchs(tmp_path: Path) -> None:
    alone, _ = started(tmp_path, 0)
    want = alone.generate([PROMPT], max_tokens=8, seed=0)[0]
    alone.close()
    body = LlamaBody()
    drafter = write_folder(tmp_path / "drafter", body.config(HeadShape()), body.checkpoint(5, HeadShape()))
    speculative = {"model": str(drafter), "method": "draft_model", "num_speculative_tokens": 2}
    engine, weights = started(tmp_path, 0, speculative_config=speculative)
    engine.refit(weights, transport="direct")
    got = engine.generate([PROMPT], max_tokens=8, seed=0)[0]
    engine.close()
    assert got.tokens[0] == want.tokens[0]
    assert np.isclose(got.logprobs[0], want.logprobs[0], atol=0.1)
