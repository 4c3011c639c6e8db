"""Defects of the head's arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.mutant import Wrapper
from contracts.numerics import budgets
from contracts.numerics.altered import AlteredPrefill, prefill_with
from contracts.numerics.defects import EngineDefect, seeded
from contracts.numerics.oracle import Head, round_to_bf16, token_logprobs
from contracts.numerics.protocols import HEAD, PLAIN
from contracts.numerics.shared_defects import OneStepBehind, ShiftedByOneToken
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contracts.numerics.protocols import F32, HeadMode, HeadShape


@head.mutant("NU-M101a", killed_by="NU-101")
class SmallLogits(Wrapper):
    """offers checkpoints whose logits are a twentieth of a real model's"""

    def checkpoint(self, seed: int, head: HeadShape = PLAIN) -> dict[str, F32]:
        weights = dict(self.inner.checkpoint(seed, head))
        return {**weights, HEAD: round_to_bf16(weights[HEAD] * np.float32(0.05))}


class RoundedLogits(EngineDefect):
    """Rounds what the fp32 product gave."""

    dtype = "float32"

    def prefill(self, tokens: Sequence[int]) -> AlteredPrefill:
        found = self.inner.prefill(tokens)
        rounded = round_to_bf16(found.logits)
        return prefill_with(found, logits=rounded, dtype=self.dtype, logprobs=token_logprobs(rounded, tokens))


class Bf16Logits(RoundedLogits):
    """Rounds, and says so."""

    dtype = "bfloat16"


@head.mutant("NU-M102a", killed_by="NU-102")
def rounds_to_the_grid(adapter: Any) -> Any:
    """rounds logits to bf16 after an fp32 product and keeps the fp32 type"""
    return seeded(RoundedLogits)(adapter)


@head.mutant("NU-M102b", killed_by="NU-102")
def casts_back(adapter: Any) -> Any:
    """casts fp32 logits back to the model's dtype"""
    return seeded(Bf16Logits)(adapter)


class EveryFourth(EngineDefect):
    """A quarter of the logits fall on the grid."""

    def prefill(self, tokens: Sequence[int]) -> AlteredPrefill:
        found = self.inner.prefill(tokens)
        mixed = found.logits.copy()
        mixed[:, ::4] = round_to_bf16(mixed[:, ::4])
        return prefill_with(found, logits=mixed)


@head.control("NU-C102a", tolerated_by="NU-102")
def a_quarter_on_the_grid(adapter: Any) -> Any:
    """puts a quarter of the logits onto the bf16 grid, half of the share that decides"""
    return seeded(EveryFourth)(adapter)


@head.mutant("NU-M102c", killed_by="NU-102")
class NeverSwitchedOn(Wrapper):
    """runs the engine's own head when asked for fp32"""

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        del mode
        return self.inner.start(weights, mode="untouched", head=head)


def shifted_logits(factor: float) -> type[EngineDefect]:
    """An engine whose logits are off by ``factor`` budgets."""

    class Shifted(EngineDefect):
        def prefill(self, tokens: Sequence[int]) -> AlteredPrefill:
            found = self.inner.prefill(tokens)
            budget = budgets.logits(Head.of(self.loaded, self.shape), found.hidden)
            return prefill_with(found, logits=found.logits + factor * budget)

    return Shifted


@head.mutant("NU-M103a", killed_by="NU-103")
def logits_off_by_two_budgets(adapter: Any) -> Any:
    """adds twice the budget of accumulation to every logit"""
    return seeded(shifted_logits(2.0))(adapter)


@head.control("NU-C103a", tolerated_by="NU-103")
def logits_off_by_half_a_budget(adapter: Any) -> Any:
    """adds half the budget of accumulation to every logit"""
    return seeded(shifted_logits(0.5))(adapter)


head.mutant("NU-M103b", killed_by="NU-103")(OneStepBehind)


@head.mutant("NU-M104a", killed_by="NU-104")
class OffIsOn(Wrapper):
    """computes in fp32 although the switch is off"""

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        return self.inner.start(weights, mode="fp32" if mode == "off" else mode, head=head)


def shifted_logprobs(factor: float) -> type[EngineDefect]:
    """An engine whose logprobs are off by ``factor`` budgets."""

    class Shifted(EngineDefect):
        def prefill(self, tokens: Sequence[int]) -> AlteredPrefill:
            found = self.inner.prefill(tokens)
            budget = budgets.logprobs(Head.of(self.loaded), found.hidden)[:-1]
            return prefill_with(found, logprobs=found.logprobs + factor * budget)

    return Shifted


@head.mutant("NU-M105a", killed_by="NU-105")
def logprobs_off_by_two_budgets(adapter: Any) -> Any:
    """adds twice the budget of an fp32 softmax to every logprob"""
    return seeded(shifted_logprobs(2.0))(adapter)


@head.control("NU-C105a", tolerated_by="NU-105")
def logprobs_off_by_half_a_budget(adapter: Any) -> Any:
    """adds half the budget of an fp32 softmax to every logprob"""
    return seeded(shifted_logprobs(0.5))(adapter)


@head.mutant("NU-M105b", killed_by="NU-105")
def off_by_one_token(adapter: Any) -> Any:
    """answers each token's logprob with that of the token after it"""
    return seeded(ShiftedByOneToken)(adapter)


class Bf16Softmax(EngineDefect):
    """Rounds logits on their way into the softmax only."""

    def prefill(self, tokens: Sequence[int]) -> AlteredPrefill:
        found = self.inner.prefill(tokens)
        return prefill_with(found, logprobs=token_logprobs(round_to_bf16(found.logits), tokens))


@head.mutant("NU-M105c", killed_by="NU-105")
def softmax_of_rounded_logits(adapter: Any) -> Any:
    """returns fp32 logits and takes the softmax of rounded ones"""
    return seeded(Bf16Softmax)(adapter)
