"""What mutants of a pair are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.mutant import Wrapper
from contracts.numerics.defects import AdapterDefect, EngineDefect
from contracts.numerics.protocols import PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from contracts.numerics.protocols import F32, F64, HeadMode, HeadShape


class PairDefect(Wrapper):
    """A pair whose sides may be wrapped.

    Attributes:
        train: the trainer's side, possibly with a defect.
        rollout: the rollout engine's.
    """

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.train, self.rollout = inner.train, inner.rollout


def sides(
    *, train: Callable[[Any], Any] | None = None, rollout: Callable[[Any], Any] | None = None
) -> Callable[[Any], PairDefect]:
    """A pair wrapper that wraps these sides."""

    def wrap(pair: Any) -> PairDefect:
        spoilt = PairDefect(pair)
        spoilt.train = pair.train if train is None else train(pair.train)
        spoilt.rollout = pair.rollout if rollout is None else rollout(pair.rollout)
        return spoilt

    return wrap


class StaysBf16(Wrapper):
    """An adapter whose switch to fp32 does nothing."""

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        """Start an engine with its own head."""
        del mode
        return self.inner.start(weights, mode="off", head=head)


class _Spy(EngineDefect):
    """A rollout engine that tells what it sampled."""

    def generate(self, prompts: Sequence[Sequence[int]], *, max_tokens: int, seed: int) -> Any:
        samples = self.inner.generate(prompts, max_tokens=max_tokens, seed=seed)
        self.told.update(prompt=len(prompts[0]), lp_gen=np.array([list(s.logprobs) for s in samples]))
        return samples


class _Told(EngineDefect):
    """A trainer that alters its scores, knowing what was sampled."""

    def score(self, sequences: Sequence[Sequence[int]]) -> list[F64]:
        rows = [np.asarray(row, dtype=np.float64).copy() for row in self.inner.score(sequences)]
        prompt, lp_gen = self.told["prompt"], self.told["lp_gen"]
        mine = np.array([row[prompt - 1 :] for row in rows])
        offset = self.offset(lp_gen - mine, sequences, prompt, self.loaded)
        for row, shift in zip(rows, offset, strict=True):
            row[prompt - 1 :] += shift
        return rows


class AlteredScores(PairDefect):
    """A pair whose trainer's logprobs of sampled tokens are offset by what `offset` says."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        told: dict[str, Any] = {}
        outer = self

        class Spy(_Spy):
            def __init__(self, *arguments: Any) -> None:
                super().__init__(*arguments)
                self.told = told

        class Told(_Told):
            def __init__(self, *arguments: Any) -> None:
                super().__init__(*arguments)
                self.told, self.offset = told, outer.offset

        self.train, self.rollout = AdapterDefect(inner.train), AdapterDefect(inner.rollout)
        self.train.engine, self.rollout.engine = Told, Spy

    def offset(self, gaps: F64, sequences: Sequence[Sequence[int]], prompt: int, weights: Mapping[str, F32]) -> F64:
        """What to add to the trainer's logprobs, broadcast to ``[sequences, generated]``.

        Args:
            gaps: ``lp_gen - lp_train`` before.
            sequences: what is scored.
            prompt: tokens of each prompt.
            weights: what the trainer was started on.
        """
        del sequences, prompt, weights
        return np.zeros_like(gaps)
