"""vLLM on a CUDA device as the rollout engine of Megatron-Core on the CPU: the table, eager and with captured graphs.

The trainer's body then differs by its device too, which the contract measures and takes into its budgets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts.numerics import parity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts import Check
    from impl.numerics.pairs import ReferencePair

pytestmark = [
    pytest.mark.gpu("vllm", "megatron"),
    # vLLM and what it imports warn of much that concerns none of this
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(
    params=[("native", True), ("native", False), ("cached", True), ("cached", False)],
    ids=["native-eager", "native-graphs", "cached-eager", "cached-graphs"],
    scope="module",
)
def pair(request: pytest.FixtureRequest) -> Iterator[ReferencePair]:
    from impl.numerics import engine_pairs  # noqa: PLC0415 - only where vLLM is installed
    from impl.numerics.vllm.switch import HeadStrategy  # noqa: PLC0415 - as above

    strategy, eager = request.param
    found = engine_pairs.llama_pair(engine_pairs.LARGER_LLAMA, HeadStrategy(strategy), enforce_eager=eager)
    yield found
    found.close()


@parity.parametrize()
def test_check(pair: ReferencePair, check: Check[Any]) -> None:
    check.verify(pair, profile="smoke")
