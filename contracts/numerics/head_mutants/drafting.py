"""Defects of the drafter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.numerics import budgets
from contracts.numerics.altered import AlteredPrefill, prefill_with
from contracts.numerics.defects import EngineDefect, seeded
from contracts.numerics.oracle import Head
from contracts.numerics.protocols import DRAFTER, HEAD
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contracts.numerics.protocols import F32


class PolicysHead(EngineDefect):
    """The drafter reads the policy's copy."""

    def draft(self, tokens: Sequence[int]) -> AlteredPrefill:
        found = self.inner.draft(tokens)
        logits = Head.of(self.inner.weights()).logits(found.hidden).astype(np.float32)
        return prefill_with(found, logits=logits)


def drafts_off_by(factor: float) -> type[EngineDefect]:
    """An engine whose drafter's logits are off by ``factor`` budgets."""

    class Off(EngineDefect):
        def draft(self, tokens: Sequence[int]) -> AlteredPrefill:
            found = self.inner.draft(tokens)
            own = Head(np.asarray(self.loaded[DRAFTER + HEAD], dtype=np.float64), np.zeros(len(found.logits[0])))
            exact = own.logits(found.hidden)
            unit = 0.0 if found.dtype == "float32" else budgets.BF16_UNIT
            budget = budgets.logits(own, found.hidden) + unit * np.abs(exact)
            return prefill_with(found, logits=(exact + factor * budget).astype(np.float32))

    return Off


class DrafterLeftBehind(EngineDefect):
    """The drafter's weights are dropped from every refit."""

    def refit(self, weights: Mapping[str, F32], *, transport: str, order: Any = (), between: Any = None) -> None:
        held = self.inner.weights()
        kept = {name: held[name] if name.startswith(DRAFTER) else weight for name, weight in weights.items()}
        self.inner.refit(kept, transport=transport, order=order, between=between)


@head.mutant("NU-M341a", killed_by="NU-341")
def drafter_reads_the_policys_head(adapter: Any) -> Any:
    """computes the drafter's logits with the policy's head"""
    return seeded(PolicysHead)(adapter)


@head.mutant("NU-M341b", killed_by="NU-341")
def drafts_off_by_two_budgets(adapter: Any) -> Any:
    """adds twice the budget to the drafter's exact logits"""
    return seeded(drafts_off_by(2.0))(adapter)


@head.control("NU-C341a", tolerated_by="NU-341")
def drafts_off_by_half_a_budget(adapter: Any) -> Any:
    """adds half the budget to the drafter's exact logits"""
    return seeded(drafts_off_by(0.5))(adapter)


@head.mutant("NU-M342a", killed_by="NU-342")
def drafter_is_left_behind(adapter: Any) -> Any:
    """does not carry refits to the drafter"""
    return seeded(DrafterLeftBehind)(adapter)
