"""Pairs that do more than they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.mutant import Wrapper
from contracts.numerics.oracle import mismatch
from contracts.numerics.sides import parity

if TYPE_CHECKING:
    from contracts.numerics.protocols import F64


@parity.mutant("NU-M711a", killed_by="NU-711", witness="metrics")
class MeasuresUndeclared(Wrapper):
    """computes mismatch metrics without declaring them"""

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset(self.inner.capabilities) - {"metrics"}

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        del options
        return mismatch(lp_gen, lp_train, mask)


@parity.mutant("NU-M711b", killed_by="NU-711", witness="engines")
class ConcealsItsEngines(Wrapper):
    """has engines and does not declare them, so that nothing of them is held"""

    train = rollout = None

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset(self.inner.capabilities) - {"engines"}
