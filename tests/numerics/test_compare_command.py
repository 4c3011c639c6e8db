from __future__ import annotations

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from contracts.numerics.cases import ParityCase
from contracts.numerics.cli import app
from contracts.numerics.comparing import BODY, WAYS, Run, against_both_bf16, compare, rounding_dominates
from contracts.numerics.comparison_view import means, verdicts
from contracts.numerics.pair import PairAdapter
from contracts.numerics.pair_defects import StaysBf16, sides
from impl.numerics.adapter import parity
from impl.numerics.torch_adapter import torch_rollout, torch_trainer

SMALL = ["--seeds", "2", "--sequences", "8", "--generated", "16"]


def test_the_table_has_four_rows_and_the_bodies() -> None:
    result = CliRunner().invoke(app, ["compare", *SMALL])
    assert result.exit_code == 0, result.output
    for row in (*WAYS, r"\(bodies alone\)"):
        assert re.search(rf"{row}.*1\.0\d+ ± 0\.0\d+", result.output), row
    assert result.output.splitlines()[-1] == "both heads in fp32: best"


def test_the_table_says_what_the_rounding_does() -> None:
    rows = compare(parity(), ParityCase(sequences=12, generated=24), seeds=3)
    assert rounding_dominates(rows)
    error, divergence = means(rows, "token_mult_prob_error"), means(rows, "gen_kl_error")
    assert error["both fp32"] < error["both bf16"] < min(error["rollout only"], error["trainer only"])
    assert divergence["both fp32"] < min(divergence[way] for way in ("both bf16", "rollout only", "trainer only"))
    assert error["both fp32"] == pytest.approx(error[BODY], abs=2e-3), "what is left is the bodies'"
    assert verdicts(rows)[0]
    assert rows[BODY][0].step == 0.125, "logits stand between 16 and 32"
    for way in ("rollout only", "trainer only"):
        more, deviation = against_both_bf16(rows, way)
        assert more > 3 * deviation > 0, "the worse in each sequence, not in one"


@pytest.mark.parametrize(
    ("gap", "step", "dominates"), [(0.06, 0.125, True), (0.07, 0.125, False), (0.06, 0.0625, False)]
)
def test_the_regime_is_the_bodies_against_the_logits_own_step(gap: float, step: float, *, dominates: bool) -> None:
    assert rounding_dominates({BODY: [Run({"q0.5": gap}, np.ones(1), step)]}) is dominates


def test_a_dead_switch_is_not_best() -> None:
    rows = compare(sides(train=StaysBf16)(parity()), ParityCase(sequences=4), seeds=1)
    assert not verdicts(rows)[0]


def test_a_factory_that_does_not_exist_is_an_adapter_error() -> None:
    result = CliRunner().invoke(app, ["compare", "--train", "impl.numerics.adapter:nothing"])
    assert result.exit_code == 3
    assert "nothing" in result.output


def test_a_rollout_that_cannot_sample_is_refused() -> None:
    class Scorer:
        name, vocab, capabilities = "scorer", 512, frozenset({"refit"})

    with pytest.raises(ValueError, match="generate"):
        PairAdapter(train=torch_trainer(), rollout=Scorer())


def test_a_pair_declares_what_both_can() -> None:
    pair = PairAdapter(train=torch_trainer(), rollout=torch_rollout())
    assert pair.capabilities == {"engines", "refit"}
    assert pair.name == "torch-trainer+torch-cached"
