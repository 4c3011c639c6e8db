"""The cases of the checks: seeds and small numbers, from which a check draws tokens and weights itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Update = Literal["step", "new", "head", "body"]
"""What a refit changes: every weight by one optimizer step, every weight for another checkpoint's, or by a
step only the head (the embedding, where tied), only the rest."""


@dataclass(frozen=True)
class ForwardCase:
    """One sequence through one checkpoint."""

    seed: int = 0
    length: int = 24

    def tokens(self, vocab: int) -> list[int]:
        """The sequence."""
        return [int(t) for t in np.random.default_rng(self.seed).integers(0, vocab, self.length)]


@dataclass(frozen=True)
class RefitCase:
    """A chain of updates to one engine.

    Attributes:
        seed: of the checkpoint, the updates and the requests.
        updates: what each update changes.
        warm: whether requests are answered before the first update.
        dummy: whether the engine starts on dummy weights.
        shuffle: seed of the order in which weights are sent.
    """

    seed: int = 0
    updates: tuple[Update, ...] = ("step",)
    warm: bool = True
    dummy: bool = False
    shuffle: int = 0


@dataclass(frozen=True)
class ParityCase:
    """Sequences sampled by the rollout engine and scored by the trainer.

    Attributes:
        seed: of the checkpoint, prompts and samples.
        sequences: how many.
        prompt: tokens of each prompt.
        generated: tokens sampled after each.
    """

    seed: int = 0
    sequences: int = 8
    prompt: int = 8
    generated: int = 16


@dataclass(frozen=True)
class MetricsCase:
    """A batch of log probabilities with its mask, rows of equal length.

    Attributes:
        lp_gen: the rollout engine's, a row a sequence.
        gaps: ``lp_train - lp_gen``.
        mask: 1 at valid tokens.
    """

    lp_gen: tuple[tuple[float, ...], ...]
    gaps: tuple[tuple[float, ...], ...]
    mask: tuple[tuple[int, ...], ...]
