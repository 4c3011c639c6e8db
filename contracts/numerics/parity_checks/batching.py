"""NU-52x: what a sequence shares a batch with does not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics import budgets
from contracts.numerics.cases import ParityCase
from contracts.numerics.observation import running
from contracts.numerics.parity_checks import origins
from contracts.numerics.playing import body_gaps, largest, weights_of
from contracts.numerics.sides import parity

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.numerics.protocols import EngineAdapter, Pair

CASES = (ParityCase(sequences=5, prompt=6, generated=10), ParityCase(seed=3, sequences=4, prompt=12, generated=4))


def _hold(check: Check[Pair], pair: Pair, case: ParityCase, adapter: EngineAdapter) -> None:
    """Raise unless sequences score alone, in a batch, reversed and beside longer ones alike."""
    rng = np.random.default_rng(case.seed)
    lengths = [case.prompt + case.generated - 2 * i for i in range(case.sequences)]
    sequences = [[int(t) for t in rng.integers(0, adapter.vocab, max(2, length))] for length in lengths]
    weights = weights_of(pair, case)
    budget = budgets.BODY * largest(body_gaps(pair, weights, sequences))
    with running(adapter, weights) as engine:
        together = engine.score(sequences)
        reverse = list(engine.score(sequences[::-1]))[::-1]
        alone = [engine.score([tokens])[0] for tokens in sequences]
    for other, how in ((alone, "alone"), (reverse, "in reverse order")):
        for number, (one, two) in enumerate(zip(together, other, strict=True)):
            apart = np.abs(np.asarray(one) - np.asarray(two))
            if not apart.max() <= budget:
                raise check.fail(
                    f"a sequence scores otherwise {how} than in a batch with longer ones",
                    got=f"{apart.max():.3g} nats apart",
                    want=f"at most {budget:.3g}, budgets.BODY times the bodies' largest gap",
                    sequence=number,
                    engine=adapter.name,
                )


@parity.check("NU-521", source=origins.BATCHES, requires={"engines"}, examples=CASES)
def batches_do_not_matter_to_the_rollout(check: Check[Pair], pair: Pair, case: ParityCase) -> None:
    """The rollout engine scores a sequence alone as in any batch, within a body's noise.

    Why: a rollout's logprobs must not depend on who else was sampled.

    Usual cause: padding that is attended to, logprobs picked by flat position, a batch-dependent kernel.
    """
    _hold(check, pair, case, pair.rollout)


@parity.check("NU-522", source=origins.BATCHES, requires={"engines"}, examples=CASES)
def batches_do_not_matter_to_the_trainer(check: Check[Pair], pair: Pair, case: ParityCase) -> None:
    """The trainer scores a sequence alone as in any batch, within a body's noise.

    Why: packing and padding are the trainer's own business, and differ from the rollout engine's.

    Usual cause: padding that is attended to, a packed row that sees its neighbour, positions that run on.
    """
    _hold(check, pair, case, pair.train)
