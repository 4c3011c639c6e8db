"""Defects that show token by token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.numerics import budgets
from contracts.numerics.altered import AlteredPrefill, AlteredSample, prefill_with
from contracts.numerics.defects import EngineDefect, seeded
from contracts.numerics.oracle import Head, token_logprobs
from contracts.numerics.pair_defects import AlteredScores, StaysBf16, sides
from contracts.numerics.playing import body_gaps, largest
from contracts.numerics.shared_defects import OneStepBehind, ShiftedByOneToken
from contracts.numerics.sides import parity
from contracts.numerics.stale import StaleHead

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contracts.numerics.protocols import F32, F64


@parity.mutant("NU-M501a", killed_by="NU-501")
def rollout_stays_bf16(pair: Any) -> Any:
    """leaves the rollout engine's head in bf16"""
    return sides(rollout=StaysBf16)(pair)


@parity.mutant("NU-M501b", killed_by="NU-501")
def trainer_stays_bf16(pair: Any) -> Any:
    """leaves the trainer's head in bf16"""
    return sides(train=StaysBf16)(pair)


@parity.mutant("NU-M501c", killed_by="NU-501")
def trainer_is_off_by_one(pair: Any) -> Any:
    """pairs each sampled token with the trainer's logprob of the next"""
    return sides(train=seeded(ShiftedByOneToken))(pair)


@parity.mutant("NU-M501d", killed_by="NU-501")
def rollout_is_one_step_behind(pair: Any) -> Any:
    """samples from a head one optimizer step old"""
    return sides(rollout=OneStepBehind)(pair)


class OneToken(EngineDefect):
    """One token of a sequence is off by 3 nats."""

    def prefill(self, tokens: Sequence[int]) -> AlteredPrefill:
        found = self.inner.prefill(tokens)
        spoilt = np.array(found.logprobs)
        spoilt[len(spoilt) // 2] -= 3.0
        return prefill_with(found, logprobs=spoilt)


@parity.mutant("NU-M501e", killed_by="NU-501")
def mean_hides_an_outlier(pair: Any) -> Any:
    """scores one token of each sequence 3 nats too low"""
    return sides(train=seeded(OneToken))(pair)


class Tempered(EngineDefect):
    """Scores at a temperature of 1.02."""

    def prefill(self, tokens: Sequence[int]) -> AlteredPrefill:
        found = self.inner.prefill(tokens)
        return prefill_with(found, logprobs=token_logprobs(found.logits / np.float32(1.02), tokens))


@parity.mutant("NU-M501f", killed_by="NU-501")
def trainer_has_a_temperature(pair: Any) -> Any:
    """divides the trainer's logits by 1.02"""
    return sides(train=seeded(Tempered))(pair)


def prefills_off_by(factor: float) -> type[EngineDefect]:
    """A trainer whose logprobs are off by ``factor`` times the budget of two heads."""

    class Off(EngineDefect):
        def prefill(self, tokens: Sequence[int]) -> AlteredPrefill:
            found = self.inner.prefill(tokens)
            both = 2.0 * budgets.logprobs(Head.of(self.loaded), found.hidden)[:-1]
            return prefill_with(found, logprobs=found.logprobs + factor * both)

    return Off


@parity.mutant("NU-M501g", killed_by="NU-501")
def gaps_off_by_two_budgets(pair: Any) -> Any:
    """adds twice the budget to every gap"""
    return sides(train=seeded(prefills_off_by(2.0)))(pair)


@parity.control("NU-C501a", tolerated_by="NU-501")
def gaps_off_by_half_a_budget(pair: Any) -> Any:
    """adds half the budget to every gap"""
    return sides(train=seeded(prefills_off_by(0.5)))(pair)


class ShiftedSamples(EngineDefect):
    """Hands out with each sampled token the logprob of the token before."""

    def generate(self, prompts: Sequence[Sequence[int]], *, max_tokens: int, seed: int) -> list[AlteredSample]:
        samples = self.inner.generate(prompts, max_tokens=max_tokens, seed=seed)
        return [AlteredSample(tuple(s.tokens), (s.logprobs[0], *s.logprobs[:-1])) for s in samples]


@parity.mutant("NU-M502a", killed_by="NU-502")
def samples_are_off_by_one(pair: Any) -> Any:
    """hands out sampled logprobs shifted by one token"""
    return sides(rollout=seeded(ShiftedSamples))(pair)


def sampling(pair: Any, factor: float) -> Any:
    """A pair whose rollout engine samples the first token of each sequence with an error of ``factor`` budgets."""

    class Off(EngineDefect):
        def generate(self, prompts: Sequence[Sequence[int]], *, max_tokens: int, seed: int) -> list[AlteredSample]:
            samples = self.inner.generate(prompts, max_tokens=max_tokens, seed=seed)
            sequences = [(*prompt, *s.tokens) for prompt, s in zip(prompts, samples, strict=True)]
            off = factor * budgets.BODY * largest(body_gaps(pair, self.loaded, sequences, len(prompts[0])))
            return [AlteredSample(tuple(s.tokens), (s.logprobs[0] + off, *s.logprobs[1:])) for s in samples]

    return sides(rollout=seeded(Off))(pair)


@parity.mutant("NU-M502b", killed_by="NU-502")
def samples_off_by_two_budgets(pair: Any) -> Any:
    """adds twice the budget to the first sampled logprob"""
    return sampling(pair, 2.0)


@parity.control("NU-C502a", tolerated_by="NU-502")
def samples_off_by_half_a_budget(pair: Any) -> Any:
    """adds half the budget to the first sampled logprob"""
    return sampling(pair, 0.5)


class MeanOff(AlteredScores):
    """Every logprob of the trainer is off, so that the error is at ``factor`` budgets."""

    factor = 0.0

    def offset(self, gaps: F64, sequences: Sequence[Sequence[int]], prompt: int, weights: Mapping[str, F32]) -> F64:
        mine = np.concatenate(body_gaps(self.inner, weights, sequences, prompt))
        budget = budgets.MEAN_BODY * float(np.mean(np.expm1(np.abs(mine))))
        return np.full_like(gaps, np.log1p(self.factor * budget))


@parity.mutant("NU-M503a", killed_by="NU-503")
class MeanOffByTwoBudgets(MeanOff):
    """shifts the trainer's logprobs so that the error is twice its budget"""

    factor = 2.0


@parity.control("NU-C503a", tolerated_by="NU-503")
class MeanOffByHalfABudget(MeanOff):
    """shifts the trainer's logprobs so that the error grows by half its budget"""

    factor = 0.5


class SequenceOff(AlteredScores):
    """One sequence's logprobs are off, so that its error is at ``factor`` budgets."""

    factor = 0.0

    def offset(self, gaps: F64, sequences: Sequence[Sequence[int]], prompt: int, weights: Mapping[str, F32]) -> F64:
        budget = budgets.MEAN_BODY * np.expm1(largest(body_gaps(self.inner, weights, sequences, prompt)))
        shift = np.zeros_like(gaps)
        shift[-1] = np.log1p(self.factor * budget)
        return shift


@parity.mutant("NU-M504a", killed_by="NU-504")
class SequenceOffByTwoBudgets(SequenceOff):
    """shifts one sequence's logprobs so that its error is twice its budget"""

    factor = 2.0


@parity.control("NU-C504a", tolerated_by="NU-504")
class SequenceOffByHalfABudget(SequenceOff):
    """shifts one sequence's logprobs so that its error grows by half its budget"""

    factor = 0.5


class Drift(AlteredScores):
    """All logprobs drift by ``factor`` budgets."""

    factor = 0.0

    def offset(self, gaps: F64, sequences: Sequence[Sequence[int]], prompt: int, weights: Mapping[str, F32]) -> F64:
        del sequences, prompt, weights
        return np.full_like(gaps, self.factor * budgets.signed_gap(gaps))


@parity.mutant("NU-M505a", killed_by="NU-505")
class DriftOfTwoBudgets(Drift):
    """shifts the trainer's logprobs by twice the budget of a drift"""

    factor = 2.0


@parity.control("NU-C505a", tolerated_by="NU-505")
class DriftOfHalfABudget(Drift):
    """shifts the trainer's logprobs by half the budget of a drift"""

    factor = 0.5


class Deaf(EngineDefect):
    """Takes no updates."""

    def refit(self, *arguments: Any, **options: Any) -> None:
        """Nothing."""


@parity.mutant("NU-M506a", killed_by="NU-506")
def rollout_takes_no_updates(pair: Any) -> Any:
    """drops the rollout engine's refits"""
    return sides(rollout=seeded(Deaf))(pair)


@parity.mutant("NU-M506b", killed_by="NU-506")
def trainer_takes_no_updates(pair: Any) -> Any:
    """drops the trainer's refits"""
    return sides(train=seeded(Deaf))(pair)


@parity.mutant("NU-M506c", killed_by="NU-506")
def rollouts_head_is_stale(pair: Any) -> Any:
    """leaves the rollout engine's head out of its refits"""
    return sides(rollout=seeded(StaleHead))(pair)
