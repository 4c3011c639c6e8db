"""The four-row table: both heads in bf16, one of them in fp32, both in fp32."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics.oracle import mismatch
from contracts.numerics.playing import bodies, play, weights_of

if TYPE_CHECKING:
    from contracts.numerics.cases import ParityCase
    from contracts.numerics.protocols import F64, EnginePair, HeadMode

#: Row to the modes of rollout and trainer.
WAYS: dict[str, tuple[HeadMode, HeadMode]] = {
    "both bf16": ("off", "off"),
    "rollout only": ("fp32", "off"),
    "trainer only": ("off", "fp32"),
    "both fp32": ("fp32", "fp32"),
}
QUANTILES = (0.5, 0.9, 0.99, 1.0)
BODY = "body"

#: The largest rounding error.
HALF_A_STEP = 0.5

#: Binary digits of a bf16 number behind its first.
BF16_DIGITS = 7


@dataclass(frozen=True)
class Run:
    """One checkpoint, played in one way.

    Attributes:
        means: the metrics over all tokens, and quantiles of the gaps as ``q0.5``.
        sequences: token_mult_prob_error of each sequence, ``[sequences]``.
        step: of a bf16 number as large as the sampled tokens' logits, in nats; of the bodies' run alone.
    """

    means: dict[str, float]
    sequences: F64
    step: float = 0.0


Rows = dict[str, list[Run]]


def compare(pair: EnginePair, case: ParityCase, seeds: int) -> Rows:
    """Play a case on several checkpoints in all four ways.

    Args:
        pair: the engines.
        case: its seed is the first of ``seeds`` consecutive ones.
        seeds: how many checkpoints.

    Returns:
        For each row the run on each checkpoint; and under ``body`` what the bodies alone make of it.
    """
    rows: Rows = {name: [] for name in (*WAYS, BODY)}
    for seed in range(case.seed, case.seed + seeds):
        one = replace(case, seed=seed)
        for name, (rollout, train) in WAYS.items():
            batch = play(pair, one, rollout=rollout, train=train)
            rows[name].append(_measured(batch.lp_gen, batch.lp_train))
            if name == "both fp32":
                found = bodies(pair, weights_of(pair, one), batch.sequences, one.prompt)
                gaps = np.array(found.gaps)
                step = _bf16_step(float(np.median(np.abs(found.logits))))
                rows[BODY].append(replace(_measured(gaps, np.zeros_like(gaps)), step=step))
    return rows


def rounding_dominates(rows: Rows) -> bool:
    """Whether half of the tokens' body gaps are below half a bf16 step of their logits."""
    return float(np.mean([run.means["q0.5"] / run.step for run in rows[BODY]])) < HALF_A_STEP


def against_both_bf16(rows: Rows, way: str) -> tuple[float, float]:
    """How much higher a way's token_mult_prob_error of a sequence is than with both heads in bf16.

    Sequences are paired by their prompt.

    Returns:
        The mean over all sequences of all checkpoints, and its standard error.
    """
    pairs = zip(rows[way], rows["both bf16"], strict=True)
    apart = np.concatenate([mine.sequences - bf16.sequences for mine, bf16 in pairs])
    return float(apart.mean()), float(apart.std() / np.sqrt(apart.size))


def _bf16_step(size: float) -> float:
    return float(2.0 ** (np.floor(np.log2(size)) - BF16_DIGITS))


def _measured(lp_gen: F64, lp_train: F64) -> Run:
    gaps = np.abs(lp_gen - lp_train)
    quantiles = {f"q{q}": float(np.quantile(gaps, q)) for q in QUANTILES}
    means = mismatch(lp_gen, lp_train, np.ones_like(lp_gen))
    return Run({**means, **quantiles}, np.exp(gaps).mean(axis=-1))
