"""Defects around the product: each drops one part of the head's shape."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.mutant import Wrapper
from contracts.numerics.altered import AlteredPrefill, prefill_with
from contracts.numerics.defects import EngineDefect, seeded
from contracts.numerics.head_mutants.precision import shifted_logits
from contracts.numerics.oracle import Head, token_logprobs
from contracts.numerics.protocols import BIAS, EMBEDDING, HEAD, PLAIN
from contracts.numerics.sides import head
from contracts.numerics.updates import optimizer_step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contracts.numerics.protocols import F32, HeadMode, HeadShape


@head.mutant("NU-M111a", killed_by="NU-111")
class SoftcapDropped(Wrapper):
    """leaves the soft cap out"""

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        return self.inner.start(weights, mode=mode, head=replace(head, softcap=0.0))


@head.mutant("NU-M112a", killed_by="NU-112")
class ScaleDropped(Wrapper):
    """leaves the logit scale out"""

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        return self.inner.start(weights, mode=mode, head=replace(head, logit_scale=1.0))


@head.mutant("NU-M113a", killed_by="NU-113")
class BiasDropped(Wrapper):
    """leaves the bias out"""

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        if head.bias and weights is not None:
            weights = {**weights, BIAS: np.zeros_like(weights[BIAS])}
        return self.inner.start(weights, mode=mode, head=head)


class PaddingKept(EngineDefect):
    """Appends the padding rows' logits."""

    columns = 8

    def prefill(self, tokens: Sequence[int]) -> AlteredPrefill:
        found = self.inner.prefill(tokens)
        padding = np.full((len(found.logits), self.columns), found.logits.max(), dtype=np.float32)
        wide = np.concatenate((found.logits, padding), axis=1)
        return prefill_with(found, logits=wide, logprobs=token_logprobs(wide, tokens))


class PaddingInNormalizer(PaddingKept):
    """Cuts the padding from the logits and leaves it in the softmax."""

    def prefill(self, tokens: Sequence[int]) -> AlteredPrefill:
        found = super().prefill(tokens)
        return prefill_with(found, logits=found.logits[:, : -self.columns])


@head.mutant("NU-M114a", killed_by="NU-114")
def padding_is_kept(adapter: Any) -> Any:
    """returns the padding rows' logits too"""
    return seeded(PaddingKept)(adapter)


@head.mutant("NU-M114b", killed_by="NU-114")
def padding_in_the_normalizer(adapter: Any) -> Any:
    """takes the softmax over the padding rows too"""
    return seeded(PaddingInNormalizer)(adapter)


@head.mutant("NU-M115a", killed_by="NU-115")
class TiedToSomethingElse(Wrapper):
    """computes a tied head with a weight that is not the embedding's"""

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        if not head.tied or weights is None:
            return self.inner.start(weights, mode=mode, head=head)
        old = optimizer_step(weights, frozenset({EMBEDDING}), seed=1)[EMBEDDING]
        return self.inner.start({**weights, HEAD: old}, mode=mode, head=replace(head, tied=False))


class ScaleBeforeBias(EngineDefect):
    """The scale is folded into the product."""

    def prefill(self, tokens: Sequence[int]) -> AlteredPrefill:
        found = self.inner.prefill(tokens)
        shape = self.shape
        own = Head.of(self.loaded, shape)
        unscaled = replace(own, bias=own.bias / shape.logit_scale)
        return _recomputed(found, unscaled, tokens)


class CapBeforeScale(EngineDefect):
    """The cap is applied first, and what it capped is scaled."""

    def prefill(self, tokens: Sequence[int]) -> AlteredPrefill:
        found = self.inner.prefill(tokens)
        capped = replace(Head.of(self.loaded, self.shape), shape=replace(self.shape, logit_scale=1.0))
        return _recomputed(found, capped, tokens, self.shape.logit_scale)


def _recomputed(found: Any, own: Head, tokens: Sequence[int], factor: float = 1.0) -> AlteredPrefill:
    logits = (factor * own.logits(found.hidden)).astype(np.float32)
    return prefill_with(found, logits=logits, logprobs=token_logprobs(logits, tokens))


@head.mutant("NU-M116a", killed_by="NU-116")
def scale_before_bias(adapter: Any) -> Any:
    """adds the bias after the scale"""
    return seeded(ScaleBeforeBias)(adapter)


@head.mutant("NU-M116b", killed_by="NU-116")
def cap_before_scale(adapter: Any) -> Any:
    """scales what was capped"""
    return seeded(CapBeforeScale)(adapter)


def _register_budget(check: str) -> None:
    """Twice and half the budget of a shape's logits."""

    @head.mutant(f"NU-M{check[3:]}y", killed_by=check)
    def logits_off_by_two_budgets(adapter: Any) -> Any:
        """adds twice the budget of accumulation to every logit of a head of this shape"""
        return seeded(shifted_logits(2.0))(adapter)

    @head.control(f"NU-C{check[3:]}a", tolerated_by=check)
    def logits_off_by_half_a_budget(adapter: Any) -> Any:
        """adds half the budget of accumulation to every logit of a head of this shape"""
        return seeded(shifted_logits(0.5))(adapter)


for _check in ("NU-111", "NU-112", "NU-113", "NU-114", "NU-115", "NU-116"):
    _register_budget(_check)
