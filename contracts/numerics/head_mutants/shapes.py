"""Defects around the product: each drops one part of the head's shape."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.mutant import Wrapper
from contracts.numerics.altered import AlteredPrefill, prefill_with
from contracts.numerics.defects import EngineDefect, seeded
from contracts.numerics.oracle import token_logprobs
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
