"""Why the staleness checks compare bits: a check by threshold misses what one optimizer step leaves behind."""

from __future__ import annotations

import numpy as np
import pytest

from contracts import ContractFailure
from contracts.numerics import head
from contracts.numerics.cases import ParityCase, RefitCase
from contracts.numerics.defects import AdapterDefect, seeded
from contracts.numerics.head_mutants.transports import CHECK_OF, never_through
from contracts.numerics.observation import running
from contracts.numerics.oracle import mismatch
from contracts.numerics.playing import play
from contracts.numerics.protocols import HeadShape
from contracts.numerics.updates import updated
from impl.numerics.adapter import parity
from impl.numerics.torch_adapter import TorchAdapter, torch_rollout

#: What the masking of sequences uses; and a far stricter one, the whole error of two bf16 heads.
MASKING = 1.5


def staleness(adapter: TorchAdapter | AdapterDefect, transport: str) -> float:
    """token_mult_prob_error between a refitted engine and a fresh one, after one small optimizer step."""
    first = dict(adapter.checkpoint(0))
    second, _ = updated(adapter, first, "step", 0, HeadShape())
    sequences = np.random.default_rng(0).integers(0, adapter.vocab, (8, 24)).tolist()
    with running(adapter, first) as engine:
        engine.score(sequences)
        engine.refit(second, transport=transport, order=sorted(second))
        refitted = np.array(engine.score(sequences))
    with running(torch_rollout(), second) as engine:
        fresh = np.array(engine.score(sequences))
    return mismatch(refitted, fresh, np.ones_like(fresh))["token_mult_prob_error"]


def both_bf16() -> float:
    """What rounding both heads costs on the same kind of checkpoint."""
    batch = play(parity(), ParityCase(sequences=8, generated=16), train="off", rollout="off")
    return mismatch(batch.lp_gen, batch.lp_train, np.ones_like(batch.lp_gen))["token_mult_prob_error"]


@pytest.mark.parametrize(("transport", "check"), CHECK_OF.items())
def test_a_threshold_misses_one_step_and_the_contract_does_not(transport: str, check: str) -> None:
    stale = seeded(never_through(transport))(torch_rollout())
    assert staleness(torch_rollout(), transport) == 1.0
    error = staleness(stale, transport)
    assert 1.0 < error < MASKING, "a check by the masking threshold passes on a stale head"
    assert error < 1.0 + 2 * (both_bf16() - 1.0), "so does one as strict as the error of two bf16 heads allows"
    with pytest.raises(ContractFailure) as found:
        head[check].verify(stale, case=RefitCase(updates=("step",)))
    assert found.value.code == check
