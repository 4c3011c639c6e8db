"""New weights, as a trainer sends them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics.oracle import round_to_bf16
from contracts.numerics.protocols import BIAS, DRAFTER, EMBEDDING, HEAD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.numerics.cases import Update
    from contracts.numerics.protocols import F32, EngineAdapter, HeadShape

STEP = 2.0**-7
"""Size of one optimizer step relative to a tensor's median magnitude: about one bf16 step of a typical weight."""


def optimizer_step(weights: Mapping[str, F32], names: frozenset[str], seed: int) -> dict[str, F32]:
    """All weights, those in ``names`` moved by a small signed step and rounded to bf16, as after one update."""
    rng = np.random.default_rng(seed)
    moved = {}
    for name, weight in weights.items():
        step = (STEP * np.median(np.abs(weight)) * rng.choice((-1.0, 1.0), weight.shape)).astype(np.float32)
        moved[name] = round_to_bf16(weight + step) if name in names else weight
    return moved


def head_names(weights: Mapping[str, F32], shape: HeadShape) -> frozenset[str]:
    """The policy's head in a checkpoint."""
    return frozenset(weights) & ({EMBEDDING, HEAD} if shape.tied else {HEAD, BIAS})


def updated(
    adapter: EngineAdapter, weights: Mapping[str, F32], update: Update, seed: int, shape: HeadShape
) -> tuple[dict[str, F32], frozenset[str]]:
    """The weights after an update, and the names it changed."""
    mine = head_names(weights, shape)
    if update == "new":
        return dict(adapter.checkpoint(seed + 1000, shape)), frozenset(weights)
    changed = {
        "step": frozenset(weights),
        "head": mine,
        "body": frozenset(name for name in weights if name not in mine and not name.startswith(DRAFTER)),
    }[update]
    moved = optimizer_step(weights, changed, seed)
    if shape.tied and HEAD in moved:
        moved[HEAD] = moved[EMBEDDING]
    return moved, changed
