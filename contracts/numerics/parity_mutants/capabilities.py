"""Pairs that do more than they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.numerics.oracle import mismatch
from contracts.numerics.pair_defects import PairDefect
from contracts.numerics.sides import parity

if TYPE_CHECKING:
    from contracts.numerics.protocols import F64


@parity.mutant("NU-M711a", killed_by="NU-711", witness="metrics")
class MeasuresUndeclared(PairDefect):
    """computes mismatch metrics without declaring them"""

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset(self.inner.capabilities) - {"metrics"}

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        del options
        return mismatch(lp_gen, lp_train, mask)
