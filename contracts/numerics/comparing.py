"""The four-row table: both heads in bf16, one of them in fp32, both in fp32."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics.oracle import mismatch
from contracts.numerics.playing import body_gaps, play, weights_of

if TYPE_CHECKING:
    from contracts.numerics.cases import ParityCase
    from contracts.numerics.protocols import EnginePair, HeadMode

#: Row to the modes of rollout and trainer.
WAYS: dict[str, tuple[HeadMode, HeadMode]] = {
    "both bf16": ("off", "off"),
    "rollout only": ("fp32", "off"),
    "trainer only": ("off", "fp32"),
    "both fp32": ("fp32", "fp32"),
}
QUANTILES = (0.5, 0.9, 0.99, 1.0)
BODY = "body"

#: A bf16 step of a logit between 16 and 32; half of it is the largest rounding error.
BF16_STEP = 0.125

Rows = dict[str, list[dict[str, float]]]


def compare(pair: EnginePair, case: ParityCase, seeds: int) -> Rows:
    """Play a case on several checkpoints in all four ways.

    Args:
        pair: the engines.
        case: its seed is the first of ``seeds`` consecutive ones.
        seeds: how many checkpoints.

    Returns:
        For each row the metrics of each checkpoint, with quantiles of the gaps as ``q0.5``; and under
        ``body`` the same of what the bodies alone make of them.
    """
    rows: Rows = {name: [] for name in (*WAYS, BODY)}
    for seed in range(case.seed, case.seed + seeds):
        one = replace(case, seed=seed)
        for name, (rollout, train) in WAYS.items():
            batch = play(pair, one, rollout=rollout, train=train)
            rows[name].append(_measured(batch.lp_gen, batch.lp_train))
            if name == "both fp32":
                gaps = np.array(body_gaps(pair, weights_of(pair, one), batch.sequences, one.prompt))
                rows[BODY].append(_measured(gaps, np.zeros_like(gaps)))
    return rows


def rounding_dominates(rows: Rows) -> bool:
    """Whether half of the tokens' body gaps are below half a bf16 step of the logits."""
    return float(np.mean([run["q0.5"] for run in rows[BODY]])) < BF16_STEP / 2


def _measured(
    lp_gen: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    lp_train: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> dict[str, float]:
    gaps = np.abs(lp_gen - lp_train)
    quantiles = {f"q{q}": float(np.quantile(gaps, q)) for q in QUANTILES}
    return {**mismatch(lp_gen, lp_train, np.ones_like(lp_gen)), **quantiles}
