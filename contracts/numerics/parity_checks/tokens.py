"""NU-5xx: token by token, on the same weights and tokens."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics import budgets, strategies
from contracts.numerics.cases import ParityCase
from contracts.numerics.observation import running
from contracts.numerics.oracle import Head, mismatch
from contracts.numerics.parity_checks import origins
from contracts.numerics.playing import body_gaps, largest, play, sample_and_score, weights_of
from contracts.numerics.protocols import HeadShape
from contracts.numerics.sides import parity
from contracts.numerics.updates import updated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contracts.check import Check
    from contracts.numerics.protocols import F32, Engine, Pair

CASES = (ParityCase(), ParityCase(seed=1, sequences=5, prompt=3, generated=20))


def _hold_explained(
    check: Check[Pair],
    generator: Engine,
    scorer: Engine,
    weights: Mapping[str, F32],
    sequences: Sequence[Sequence[int]],
) -> None:
    """Raise unless each token's gap is its bodies' gap, within both heads' fp32 budgets."""
    exact = Head.of(weights)
    for number, tokens in enumerate(sequences):
        mine, theirs = generator.prefill(tokens), scorer.prefill(tokens)
        gap = mine.logprobs - theirs.logprobs
        explained = exact.logprobs(mine.hidden, tokens) - exact.logprobs(theirs.hidden, tokens)
        budget = budgets.logprobs(exact, mine.hidden)[:-1] + budgets.logprobs(exact, theirs.hidden)[:-1]
        used = np.abs(gap - explained) / budget
        if not used.max() <= 1.0:
            at = int(np.nanargmax(np.where(np.isnan(used), np.inf, used)))
            raise check.fail(
                "a token's gap between rollout and trainer is not the bodies' alone",
                got=f"a gap of {gap[at]:.3g} nats where the bodies explain {explained[at]:.3g}",
                want="a difference within both heads' budgets, budgets.logprobs",
                sequence=number,
                token=at + 1,
            )


@parity.check("NU-501", source=origins.OUTLIERS, requires={"engines"}, examples=CASES, cases=strategies.pairs)
def every_gap_is_the_bodies(check: Check[Pair], pair: Pair, case: ParityCase) -> None:
    """With both heads in fp32, each single token's gap is what the two bodies make of it, and nothing more.

    Why: a mean hides the few tokens that are off, and a head that is wrong on one side hides behind body noise.

    Usual cause: one side in bf16, a stale head, a shift by one token, a temperature on one side only.
    """
    weights = weights_of(pair, case)
    with ExitStack() as stack:
        generator = stack.enter_context(running(pair.rollout, weights))
        scorer = stack.enter_context(running(pair.train, weights))
        sequences = sample_and_score(pair, case, generator, scorer).sequences
        _hold_explained(check, generator, scorer, weights, sequences)


@parity.check("NU-502", source=origins.SAMPLED, requires={"engines"}, examples=CASES)
def sampled_equals_scored(check: Check[Pair], pair: Pair, case: ParityCase) -> None:
    """The rollout engine's logprob of each sampled token equals its own of scoring it, within a body's noise.

    Why: training uses the former, tests look at the latter; prefill and decode take different paths to the head.

    Usual cause: sampled logprobs taken after temperature or top-p, a shift by one, an fp32 head in one path only.
    """
    batch = play(pair, case)
    budget = budgets.BODY * largest(body_gaps(pair, weights_of(pair, case), batch.sequences, case.prompt))
    apart = np.abs(batch.lp_gen - batch.lp_score)
    if not apart.max() <= budget:
        row, column = (int(i) for i in np.unravel_index(int(np.nanargmax(apart)), apart.shape))
        raise check.fail(
            "a sampled token's logprob is not that of scoring it",
            got=f"{apart[row, column]:.3g} nats apart",
            want=f"at most {budget:.3g}, budgets.BODY times the bodies' largest gap",
            sequence=row,
            token=column,
        )


@parity.check("NU-503", source=origins.BOTH, requires={"engines"}, examples=CASES)
def error_is_within_the_bodies(check: Check[Pair], pair: Pair, case: ParityCase) -> None:
    """With both heads in fp32, token_mult_prob_error is within a multiple of what the bodies alone give.

    Why: this is the number that the feature exists for, and what is left of it is not the heads' to fix.

    Usual cause: one of the two heads not in fp32 in the path that training uses.
    """
    batch = play(pair, case)
    mask = np.ones_like(batch.lp_gen)
    gaps = np.abs(body_gaps(pair, weights_of(pair, case), batch.sequences, case.prompt))
    budget = 1.0 + budgets.MEAN_BODY * float(np.mean(np.expm1(gaps)))
    got = mismatch(batch.lp_gen, batch.lp_train, mask)["token_mult_prob_error"]
    if not got <= budget:
        raise check.fail(
            "the error is more than the bodies explain",
            got=got,
            want=f"at most {budget:.6g}, budgets.MEAN_BODY times the bodies' own above 1",
        )


@parity.check("NU-504", source=origins.OUTLIERS, requires={"engines"}, examples=CASES)
def every_sequence_is_within_the_bodies(check: Check[Pair], pair: Pair, case: ParityCase) -> None:
    """The same holds for every single sequence.

    Why: sequences above a threshold are dropped from training; a fifth of them can be while the mean looks fine.

    Usual cause: an error that depends on length, on the batch's padding, or on a cached prefix.
    """
    batch = play(pair, case)
    gaps = body_gaps(pair, weights_of(pair, case), batch.sequences, case.prompt)
    # One sequence has few tokens: its own bodies' mean scatters, the batch's largest gap does not.
    budget = 1.0 + budgets.MEAN_BODY * float(np.expm1(largest(gaps)))
    errors = np.exp(np.abs(batch.lp_gen - batch.lp_train)).mean(axis=1)
    if not errors.max() <= budget:
        raise check.fail(
            "a sequence's error is more than the bodies explain",
            got=float(errors.max()),
            want=f"at most {budget:.6g}, budgets.MEAN_BODY times the bodies' largest above 1",
            sequence=int(np.argmax(errors)),
        )


@parity.check(
    "NU-505",
    source=origins.DRIFT,
    requires={"engines"},
    examples=(ParityCase(sequences=12, generated=24), ParityCase(seed=2, sequences=12)),
)
def gaps_do_not_drift(check: Check[Pair], pair: Pair, case: ParityCase) -> None:
    """The mean of lp_gen - lp_train is zero within its standard error.

    Why: noise averages out over a batch, a drift becomes a bias of every importance ratio.

    Usual cause: one side rounds towards zero, normalizes over more rows, or scales its logits.
    """
    batch = play(pair, case)
    gaps = batch.lp_gen - batch.lp_train
    budget = budgets.signed_gap(gaps)
    if not abs(float(gaps.mean())) <= budget:
        raise check.fail(
            "logprobs drift to one side",
            got=f"a mean gap of {gaps.mean():.3g} nats over {gaps.size} tokens",
            want=f"at most {budget:.3g}, budgets.signed_gap",
        )


@parity.check("NU-506", source=origins.REFITTED, requires={"engines", "refit"}, examples=CASES)
def gaps_stay_the_bodies_after_refits(check: Check[Pair], pair: Pair, case: ParityCase) -> None:
    """After both sides took an update, each single token's gap is again what the two bodies make of it.

    Why: parity at the start of a run says nothing about its second step.

    Usual cause: a refit that reaches one side's head late, or not at all.
    """
    weights = dict(weights_of(pair, case))
    with ExitStack() as stack:
        generator = stack.enter_context(running(pair.rollout, weights))
        scorer = stack.enter_context(running(pair.train, weights))
        sample_and_score(pair, case, generator, scorer)
        for number in range(2):
            weights, _ = updated(pair.rollout, weights, "step", case.seed + number, HeadShape())
            for engine in (generator, scorer):
                engine.refit(weights, transport="direct", order=sorted(weights))
            sequences = sample_and_score(pair, case, generator, scorer).sequences
            _hold_explained(check, generator, scorer, weights, sequences)
