"""What an engine answers to a fixed set of requests, compared bit for bit with another's answers."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics.protocols import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from contracts.numerics.protocols import F32, Engine, EngineAdapter, HeadMode, HeadShape

Answers = dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]

SEQUENCES, LENGTH, SAMPLED = 3, 12, 2


@dataclass(frozen=True)
class Requests:
    """Scoring, prefill and, where the engine samples, sampling; always the same and in the same order."""

    vocab: int
    seed: int
    samples: bool
    drafts: bool = False

    def ask(self, engine: Engine) -> Answers:
        """The engine's answers by name."""
        drawn = np.random.default_rng(self.seed).integers(0, self.vocab, (SEQUENCES, LENGTH)).tolist()
        prefill = engine.prefill(drawn[0])
        answers: Answers = {
            "logits": prefill.logits.astype(np.float64),
            "logprobs": np.concatenate([np.asarray(row, dtype=np.float64) for row in engine.score(drawn)]),
        }
        if self.samples:
            sampled = engine.generate(drawn[:1], max_tokens=SAMPLED, seed=self.seed)
            answers["sampled tokens"] = np.array([token for s in sampled for token in s.tokens], dtype=np.float64)
            answers["sampled logprobs"] = np.array([lp for s in sampled for lp in s.logprobs])
        if self.drafts:
            answers["drafter's logits"] = engine.draft(drawn[0]).logits.astype(np.float64)
        return answers


def requests_of(adapter: EngineAdapter, seed: int, shape: HeadShape = PLAIN) -> Requests:
    """The requests that an adapter's engines can answer."""
    return Requests(adapter.vocab, seed, "generate" in adapter.capabilities, shape.drafter)


def difference(got: Answers, want: Answers) -> str:
    """Where two engines' answers first differ in a bit; empty where they do not."""
    for name, wanted in want.items():
        found = got[name]
        if found.shape != wanted.shape:
            return f"{name}: {found.shape} instead of {wanted.shape}"
        apart = ~((found == wanted) | (np.isnan(found) & np.isnan(wanted)))
        if apart.any():
            at = tuple(int(i) for i in np.argwhere(apart)[0])
            return (
                f"{name}: {int(apart.sum())} of {found.size} differ, the first at {at} by {found[at] - wanted[at]:.3g}"
            )
    return ""


@contextmanager
def running(
    adapter: EngineAdapter,
    weights: Mapping[str, F32] | None,
    mode: HeadMode = "fp32",
    shape: HeadShape = PLAIN,
) -> Iterator[Engine]:
    """An engine for the time of a block."""
    engine = adapter.start(weights, mode=mode, head=shape)
    try:
        yield engine
    finally:
        engine.close()


def fresh_answers(
    adapter: EngineAdapter, weights: Mapping[str, F32], requests: Requests, shape: HeadShape = PLAIN
) -> Answers:
    """What an engine started on these weights answers."""
    with running(adapter, weights, shape=shape) as engine:
        return requests.ask(engine)
