"""Every tolerance of this room, named, with where it comes from.

A budget is a bound on rounding that follows from dtype and length, or a multiple of noise that the check
itself measures on the adapter; none is a number that happened to pass. Each has a control at half of it
that must pass and a mutant at twice of it that must fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from contracts.numerics.oracle import Head
    from contracts.numerics.protocols import F32, F64

FP32_UNIT = 2.0**-24
"""Largest relative error of one fp32 rounding."""

BF16_UNIT = 2.0**-8
"""One bf16 step relative to its value: twice the largest relative error of one rounding."""

ACCUMULATION = 4.0
"""Rounding errors of a sum of n products grow like sqrt(n) with a constant below 1; 4 leaves room for any order."""

SOFTMAX = 16.0
"""Roundings, each at most one unit of the largest logit, in computing a log-softmax in fp32."""

BODY = 4.0
"""How many times the largest body gap of a case two runs of one engine may differ, when batch or cache change its
kernels' shapes: they differ as two engines do, and no more; the largest of some 100 draws varies within 2."""

MEAN_BODY = 3.0
"""How many times the bodies' own mean error the engines' may be: sampled from the cache and scored as a batch, a
third body takes part, and errors of equal size add at most threefold."""

STANDARD_ERRORS = 5.0
"""Standard errors within which a mean signed gap must lie around zero; tokens of one sequence are correlated, which
a factor of 2 over the usual 2.5 pays for."""


def logits(head: Head, hidden: F32) -> F64:
    """Largest error of fp32 logits ``[tokens, vocab]``.

    ``ACCUMULATION * sqrt(n) * FP32_UNIT * sum |x_i w_i|`` for the product of length n, times the scale, and
    8 roundings of the result for bias, scale and tanh; the softcap's slope is at most 1. Holds on CPU and CUDA,
    and in TF32 too, where bf16 inputs are exact and accumulation is fp32.
    """
    wide = np.abs(hidden.astype(np.float64))
    terms = wide @ np.abs(head.weight).T
    accumulated = ACCUMULATION * np.sqrt(hidden.shape[-1]) * FP32_UNIT * terms
    budget: F64 = abs(head.shape.logit_scale) * accumulated + 8 * FP32_UNIT * (np.abs(head.logits(hidden)) + 1.0)
    return budget


def logprobs(head: Head, hidden: F32) -> F64:
    """Largest error of fp32 log probabilities ``[tokens]`` of any token after each position.

    Twice the largest logit's error (the token's and the normalizer's), and `SOFTMAX` roundings.
    """
    largest = np.abs(head.logits(hidden)).max(axis=-1)
    budget: F64 = 2.0 * logits(head, hidden).max(axis=-1) + SOFTMAX * FP32_UNIT * largest
    return budget


GRADIENT = BF16_UNIT
"""Relative error (2-norm) of the head's gradient: one rounding to bf16 is at most half a step of each element, and
the rest of the step is room for fp32 or TF32 products."""


def signed_gap(gaps: F64) -> float:
    """How far from zero the mean of ``lp_gen - lp_train`` may lie.

    `STANDARD_ERRORS` standard errors, and half the mean square: what sampling from the rollout's own distribution
    puts there (the KL divergence).
    """
    return float(STANDARD_ERRORS * gaps.std() / np.sqrt(gaps.size) + 0.5 * np.mean(gaps**2))
