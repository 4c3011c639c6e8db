"""Scores that depend on the batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.numerics import budgets
from contracts.numerics.defects import EngineDefect, seeded
from contracts.numerics.pair_defects import sides
from contracts.numerics.playing import body_gaps, largest
from contracts.numerics.sides import parity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from contracts.numerics.protocols import F64


class PaddingAttended(EngineDefect):
    """A sequence beside a longer one scores 0.5 nats lower."""

    def score(self, sequences: Sequence[Sequence[int]]) -> list[F64]:
        longest = max(map(len, sequences))
        rows = self.inner.score(sequences)
        return [np.asarray(r) - 0.5 * (len(s) < longest) for r, s in zip(rows, sequences, strict=True)]


class PickedByPosition(EngineDefect):
    """Answers come in the order of length."""

    def score(self, sequences: Sequence[Sequence[int]]) -> list[F64]:
        order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))
        rows = self.inner.score([sequences[i] for i in order])
        longest = max(rows, key=len)
        return [np.resize(np.asarray(longest), len(s) - 1) for s in sequences]


def off_in_batches(factor: float) -> Callable[[Any], type[EngineDefect]]:
    """Engines of a pair that score in batches with an error of ``factor`` budgets."""

    def of(pair: Any) -> type[EngineDefect]:
        class Off(EngineDefect):
            def score(self, sequences: Sequence[Sequence[int]]) -> list[F64]:
                rows = list(self.inner.score(sequences))
                if len(sequences) > 1:
                    off = factor * budgets.BODY * largest(body_gaps(pair, self.loaded, sequences))
                    # The first of the given order: it is another sequence when the batch is reversed.
                    rows[0] = np.asarray(rows[0]) + off
                return rows

        return Off

    return of


@parity.mutant("NU-M521a", killed_by="NU-521")
def rollout_attends_to_padding(pair: Any) -> Any:
    """lets padding change a shorter sequence's scores in the rollout engine"""
    return sides(rollout=seeded(PaddingAttended))(pair)


@parity.mutant("NU-M521b", killed_by="NU-521")
def rollout_picks_by_position(pair: Any) -> Any:
    """answers every sequence of a batch with the longest one's scores"""
    return sides(rollout=seeded(PickedByPosition))(pair)


@parity.mutant("NU-M521c", killed_by="NU-521")
def rollout_batches_off_by_two_budgets(pair: Any) -> Any:
    """adds twice the budget to one sequence's scores in a batch"""
    return sides(rollout=seeded(off_in_batches(2.0)(pair)))(pair)


@parity.control("NU-C521a", tolerated_by="NU-521")
def rollout_batches_off_by_half_a_budget(pair: Any) -> Any:
    """adds half the budget to one sequence's scores in a batch"""
    return sides(rollout=seeded(off_in_batches(0.5)(pair)))(pair)


@parity.mutant("NU-M522a", killed_by="NU-522")
def trainer_attends_to_padding(pair: Any) -> Any:
    """lets padding change a shorter sequence's scores in the trainer"""
    return sides(train=seeded(PaddingAttended))(pair)


@parity.mutant("NU-M522b", killed_by="NU-522")
def trainer_batches_off_by_two_budgets(pair: Any) -> Any:
    """adds twice the budget to one sequence's scores in a batch"""
    return sides(train=seeded(off_in_batches(2.0)(pair)))(pair)


@parity.control("NU-C522a", tolerated_by="NU-522")
def trainer_batches_off_by_half_a_budget(pair: Any) -> Any:
    """adds half the budget to one sequence's scores in a batch"""
    return sides(train=seeded(off_in_batches(0.5)(pair)))(pair)
