"""Both engines on two tensor-parallel ranks: the head is split over processes that a parent's patch never reaches."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest

from contracts.numerics import parity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from impl.numerics.pairs import ReferencePair

MISSING = [name for name in ("vllm", "megatron") if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"needs {' and '.join(MISSING)}, as in env engines"),
    # vLLM and what it imports warn of much that concerns none of this
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReferencePair]:
    from impl.numerics import engine_pairs  # noqa: PLC0415 - only where vLLM is installed

    # On CPU vLLM wants a list of cores for each rank.
    monkeypatch.setenv("VLLM_CPU_OMP_THREADS_BIND", "0|1")
    found = engine_pairs.vllm_megatron_llama_tp2()
    yield found
    found.close()


def test_every_gap_is_the_bodies_before_and_after_refits(pair: ReferencePair) -> None:
    """One engine for all of it: a start takes a minute."""
    for check in parity.select(None, {"NU-501", "NU-502", "NU-506"}):
        check.verify(pair, profile="smoke")
    assert pair.rollout.started == 1
