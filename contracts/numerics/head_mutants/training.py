"""Defects of the backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.numerics import budgets
from contracts.numerics.altered import AlteredGradients, gradients_with
from contracts.numerics.defects import EngineDefect, seeded
from contracts.numerics.oracle import Head
from contracts.numerics.protocols import EMBEDDING, HEAD
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from collections.abc import Sequence


class Detached(EngineDefect):
    """The head's weight takes no part in the graph."""

    def gradients(self, tokens: Sequence[int]) -> AlteredGradients:
        found = self.inner.gradients(tokens)
        values = {name: value for name, value in found.values.items() if name != HEAD}
        return gradients_with(found, values=values)


class Fp32Gradient(EngineDefect):
    """The gradient arrives in the upcast weight's dtype."""

    def gradients(self, tokens: Sequence[int]) -> AlteredGradients:
        found = self.inner.gradients(tokens)
        return gradients_with(found, dtypes={**found.dtypes, HEAD: "float32"})


class SummedLoss(EngineDefect):
    """The head's gradient is that of a sum, not of a mean."""

    def gradients(self, tokens: Sequence[int]) -> AlteredGradients:
        found = self.inner.gradients(tokens)
        return gradients_with(found, values={**found.values, HEAD: found.values[HEAD] * (len(tokens) - 1)})


def off_by(budget: float) -> type[EngineDefect]:
    """An engine whose head gradient is off by ``budget`` times the budget, beside its own rounding."""

    class Off(EngineDefect):
        def gradients(self, tokens: Sequence[int]) -> AlteredGradients:
            found = self.inner.gradients(tokens)
            exact = Head.of(self.loaded).weight_gradient(found.hidden, tokens)
            noise = np.sign(np.sin(1.0 + np.arange(exact.size))).reshape(exact.shape)
            noise *= budget * budgets.GRADIENT * np.linalg.norm(exact) / np.linalg.norm(noise)
            return gradients_with(found, values={**found.values, HEAD: found.values[HEAD] + noise})

    return Off


@head.mutant("NU-M201a", killed_by="NU-201")
def detached_weight(adapter: Any) -> Any:
    """computes with a detached copy, so that the head gets no gradient"""
    return seeded(Detached)(adapter)


@head.mutant("NU-M201b", killed_by="NU-201")
def gradient_in_fp32(adapter: Any) -> Any:
    """hands out an fp32 gradient for a bf16 weight"""
    return seeded(Fp32Gradient)(adapter)


@head.mutant("NU-M201c", killed_by="NU-201")
def gradient_of_a_sum(adapter: Any) -> Any:
    """scales the head's gradient by the number of tokens"""
    return seeded(SummedLoss)(adapter)


@head.mutant("NU-M201d", killed_by="NU-201")
def gradient_off_by_two_budgets(adapter: Any) -> Any:
    """adds noise of twice the budget to the head's gradient"""
    return seeded(off_by(2.0))(adapter)


@head.control("NU-C201a", tolerated_by="NU-201")
def gradient_off_by_half_a_budget(adapter: Any) -> Any:
    """adds noise of half the budget to the head's gradient"""
    return seeded(off_by(0.5))(adapter)


@head.mutant("NU-M202a", killed_by="NU-202")
def detached_weight_in_tf32(adapter: Any) -> Any:
    """computes with a detached copy in TF32"""
    return seeded(Detached, modes=("tf32",))(adapter)


@head.mutant("NU-M202b", killed_by="NU-202")
def tf32_gradient_off_by_two_budgets(adapter: Any) -> Any:
    """adds noise of twice the budget to the head's gradient in TF32"""
    return seeded(off_by(2.0), modes=("tf32",))(adapter)


@head.control("NU-C202a", tolerated_by="NU-202")
def tf32_gradient_off_by_half_a_budget(adapter: Any) -> Any:
    """adds noise of half the budget to the head's gradient in TF32"""
    return seeded(off_by(0.5), modes=("tf32",))(adapter)


def unread_rows(budget: float | None) -> type[EngineDefect]:
    """An engine that spoils rows of the embedding no token reads: zero, or off by ``budget`` budgets."""

    class Unread(EngineDefect):
        def gradients(self, tokens: Sequence[int]) -> AlteredGradients:
            found = self.inner.gradients(tokens)
            rows = found.values[EMBEDDING].copy()
            unread = np.setdiff1d(np.arange(len(rows)), tokens[:-1])
            rows[unread] *= 0.0 if budget is None else 1.0 + budget * budgets.GRADIENT
            return gradients_with(found, values={**found.values, EMBEDDING: rows})

    return Unread


@head.mutant("NU-M203a", killed_by="NU-203")
def detached_tie(adapter: Any) -> Any:
    """computes a tied head with a detached copy of the embedding"""
    return seeded(unread_rows(None))(adapter)


@head.mutant("NU-M203b", killed_by="NU-203")
def tied_gradient_off_by_two_budgets(adapter: Any) -> Any:
    """scales the head's part of a tied gradient by twice the budget"""
    return seeded(unread_rows(2.0))(adapter)


@head.control("NU-C203a", tolerated_by="NU-203")
def tied_gradient_off_by_half_a_budget(adapter: Any) -> Any:
    """scales the head's part of a tied gradient by half the budget"""
    return seeded(unread_rows(0.5))(adapter)


class DetachedInput(EngineDefect):
    """The hidden states take no part in the graph."""

    def gradients(self, tokens: Sequence[int]) -> AlteredGradients:
        found = self.inner.gradients(tokens)
        return gradients_with(found, values={HEAD: found.values[HEAD]}, dtypes={HEAD: found.dtypes[HEAD]})


class WideInput(EngineDefect):
    """What reaches the body is fp32."""

    def gradients(self, tokens: Sequence[int]) -> AlteredGradients:
        found = self.inner.gradients(tokens)
        return gradients_with(found, dtypes={name: "float32" for name in found.dtypes if name != HEAD})


@head.mutant("NU-M204a", killed_by="NU-204")
def detached_input(adapter: Any) -> Any:
    """computes with detached hidden states, so that only the head gets a gradient"""
    return seeded(DetachedInput)(adapter)


@head.mutant("NU-M204b", killed_by="NU-204")
def wide_input(adapter: Any) -> Any:
    """hands fp32 gradients on to the body"""
    return seeded(WideInput)(adapter)
