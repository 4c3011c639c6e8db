"""A NemotronH in real Megatron-Core on CPU: it is the model that transformers says it is, and has the fp32 head.

The head is the code that a Llama has, on which test_engine_megatron.py tries every mutant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from contracts.numerics import head
from impl.numerics.checkpoint import HeadShape
from impl.numerics.megatron.adapter import MegatronAdapter
from impl.numerics.megatron.llama import LlamaBody
from impl.numerics.megatron.nemotron_h import NemotronHBody

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts import Check
    from impl.numerics.megatron.body import Body

pytestmark = [
    pytest.mark.engine("megatron"),
    # transformers warns about kernels that it does without on a CPU
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(scope="module")
def adapter() -> Iterator[MegatronAdapter]:
    found = MegatronAdapter(body=NemotronHBody())
    yield found
    found.close()


@pytest.mark.parametrize("body", [LlamaBody(), NemotronHBody()], ids=["llama", "nemotron-h"])
def test_in_fp32_it_is_the_model_of_transformers(body: Body) -> None:
    from impl.numerics.transformers_oracle import oracle_logprobs  # noqa: PLC0415 - only where it is installed

    adapter = MegatronAdapter(body=body, dtype="float32")
    try:
        weights = adapter.checkpoint(3)
        sequences = np.random.default_rng(0).integers(0, adapter.vocab, (8, 40)).tolist()
        found = np.concatenate(adapter.start(weights, mode="off").score(sequences))
    finally:
        adapter.close()
    shape = body.shape if isinstance(body, LlamaBody) else NemotronHBody().hf
    assert np.abs(found - np.concatenate(oracle_logprobs(weights, shape, sequences))).max() < 3e-5


@head.parametrize()
def test_head(adapter: MegatronAdapter, check: Check[Any]) -> None:
    check.verify(adapter, profile="smoke")


def test_weights_come_back_as_they_went(adapter: MegatronAdapter) -> None:
    shape = HeadShape(vocab_padding=True)
    weights = adapter.checkpoint(3, shape)
    engine = adapter.start(weights, mode="fp32", head=shape)
    assert engine.weights().keys() == weights.keys()
    assert all(np.array_equal(engine.weights()[name], weights[name]) for name in weights)


def test_every_weight_has_a_gradient(adapter: MegatronAdapter) -> None:
    weights = adapter.checkpoint(3)
    found = adapter.start(weights, mode="fp32").gradients(range(24))
    assert found.values.keys() == weights.keys()
    assert all(np.abs(values).max() > 0 for values in found.values.values())


def test_what_cannot_be_split_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be split: use 1 rank"):
        MegatronAdapter(2, body=NemotronHBody())


def test_experts_are_refused_by_name() -> None:
    hf = {**NemotronHBody().hf, "layers_block_type": ["linear_attention", "moe"]}
    adapter = MegatronAdapter(body=NemotronHBody(hf))
    try:
        with pytest.raises(ValueError, match="layers_block_type has moe"):
            adapter.start(None, mode="off")
    finally:
        adapter.close()
