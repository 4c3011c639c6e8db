"""Hugging Face's own Llama in fp32 as the oracle of whole models."""

from __future__ import annotations

import numpy as np
import pytest

from impl.numerics.checkpoint import HeadShape
from impl.numerics.torch_adapter import torch_rollout, torch_trainer

pytestmark = [
    pytest.mark.engine("transformers"),
    # transformers warns about what it does not find; none of it concerns a model built from a config
    pytest.mark.filterwarnings("default"),
]


@pytest.mark.parametrize("tied", [False, True])
def test_engines_are_the_model_they_claim_to_be(*, tied: bool) -> None:
    """Up to bf16 noise of the body: a wrong rotation, mask or norm would show as whole nats."""
    from impl.numerics.transformers_oracle import oracle_logprobs  # noqa: PLC0415 - only where it is installed

    shape, adapters = HeadShape(tied=tied), (torch_rollout(), torch_trainer())
    weights = adapters[0].checkpoint(3, shape)
    sequences = np.random.default_rng(0).integers(0, adapters[0].vocab, (8, 24)).tolist()
    exact = np.concatenate(oracle_logprobs(weights, adapters[0].shape, sequences))
    for adapter in adapters:
        found = np.concatenate(adapter.start(weights, mode="fp32", head=shape).score(sequences))
        assert np.abs(found - exact).mean() < 0.03
        assert np.abs(found - exact).max() < 0.2


def test_the_fp32_head_brings_an_engine_closer_to_the_oracle() -> None:
    from impl.numerics.transformers_oracle import oracle_logprobs  # noqa: PLC0415 - as above

    adapter = torch_rollout()
    weights = adapter.checkpoint(1)
    sequences = np.random.default_rng(1).integers(0, adapter.vocab, (16, 24)).tolist()
    exact = np.concatenate(oracle_logprobs(weights, adapter.shape, sequences))
    error = {
        mode: float(np.abs(np.concatenate(adapter.start(weights, mode=mode).score(sequences)) - exact).mean())
        for mode in ("off", "fp32")
    }
    assert error["fp32"] < 0.7 * error["off"]
