"""Adapters that do more than they say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from contracts.mutant import Wrapper
from contracts.numerics.defects import AdapterDefect, EngineDefect
from contracts.numerics.protocols import PLAIN
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contracts.numerics.altered import AlteredSample
    from contracts.numerics.protocols import F32, HeadMode, HeadShape


class SamplesNothing(EngineDefect):
    """Sampling is there, and returns no samples."""

    def generate(self, prompts: Sequence[Sequence[int]], *, max_tokens: int, seed: int) -> list[AlteredSample]:
        del prompts, max_tokens, seed
        return []


@head.mutant("NU-M411a", killed_by="NU-411", witness="generate")
class SamplesUndeclared(AdapterDefect):
    """offers sampling without declaring it"""

    engine = SamplesNothing

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset(self.inner.capabilities) - {"generate"}


@head.mutant("NU-M411b", killed_by="NU-411", witness="softcap")
class IgnoresTheCap(Wrapper):
    """serves a soft-capped model that it did not declare, without the cap"""

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset(self.inner.capabilities) - {"softcap"}

    def checkpoint(self, seed: int, head: HeadShape = PLAIN) -> Mapping[str, F32]:
        weights: Mapping[str, F32] = self.inner.checkpoint(seed, replace(head, softcap=0.0))
        return weights

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        return self.inner.start(weights, mode=mode, head=replace(head, softcap=0.0))
