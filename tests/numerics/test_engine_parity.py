"""Real vLLM as the rollout engine and real Megatron-Core as the trainer, held to the contract of a pair.

The pool's refits are held to be as good as fresh starts by ``numerics.head`` on the same engines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

from contracts.numerics import parity
from contracts.numerics.cases import ParityCase
from contracts.numerics.cli import app
from contracts.numerics.comparing import BODY, against_both_bf16, compare, rounding_dominates
from contracts.numerics.comparison_view import means
from contracts.numerics.playing import play

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts import Check, Control, Mutant
    from impl.numerics.pairs import ReferencePair

pytestmark = [
    pytest.mark.engine("vllm", "megatron"),
    # vLLM, transformers and what they import warn of much that concerns none of this
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(params=["llama", "nemotron_h"], scope="module")
def pair(request: pytest.FixtureRequest) -> Iterator[ReferencePair]:
    from impl.numerics import engine_pairs  # noqa: PLC0415 - only where vLLM is installed

    found: ReferencePair = getattr(engine_pairs, f"vllm_megatron_{request.param}")()
    yield found
    found.close()


@parity.parametrize()
def test_check(pair: ReferencePair, check: Check[Any]) -> None:
    check.verify(pair, profile="smoke")


@parity.parametrize_mutants()
def test_mutant(pair: ReferencePair, mutant: Mutant[Any]) -> None:
    mutant.verify_killed(pair)


@parity.parametrize_controls()
def test_control(pair: ReferencePair, control: Control[Any]) -> None:
    control.verify_held(pair)


def test_the_table_on_real_engines(pair: ReferencePair) -> None:
    rows = compare(pair, ParityCase(sequences=16, generated=32), seeds=3)
    error, divergence = means(rows, "token_mult_prob_error"), means(rows, "gen_kl_error")
    assert rounding_dominates(rows)
    assert error["both fp32"] < error["both bf16"] < min(error["rollout only"], error["trainer only"])
    assert divergence["both fp32"] < min(divergence[way] for way in ("both bf16", "rollout only", "trainer only"))
    assert error["both fp32"] == pytest.approx(error[BODY], abs=2e-3), "what is left is the bodies'"
    for way in ("rollout only", "trainer only"):
        more, deviation = against_both_bf16(rows, way)
        assert more > 2 * deviation, "sequence by sequence too"
    more, deviation = against_both_bf16(rows, "both fp32")
    assert more < -2 * deviation


def test_a_pooled_engine_answers_as_a_fresh_one(pair: ReferencePair) -> None:
    """Bit for bit, samples and scores: what the checks above were asked of is what a new engine is."""
    case = ParityCase(seed=5, sequences=4)
    play(pair, ParityCase(seed=6, sequences=1))
    started = pair.rollout.started
    kept = play(pair, case)
    assert pair.rollout.started == started, "an engine of another checkpoint was used again"
    pair.rollout.close()
    fresh = play(pair, case)
    assert kept.sequences == fresh.sequences
    assert np.array_equal(kept.lp_gen, fresh.lp_gen)
    assert np.array_equal(kept.lp_score, fresh.lp_score)


def test_the_compare_command_takes_them() -> None:
    sides = {side: f"impl.numerics.engine_pairs:{side}_nemotron_h" for side in ("rollout", "train")}
    small = ["--seeds", "1", "--sequences", "4", "--generated", "16"]
    result = CliRunner().invoke(app, ["compare", *(f"--{side}={name}" for side, name in sides.items()), *small])
    assert result.exit_code == 0, result.output
    assert "vllm-cached-nemotron_h (rollout) and megatron-nemotron-h-tp1 (trainer)" in result.output
    assert "both heads in fp32: best" in result.output.splitlines()
