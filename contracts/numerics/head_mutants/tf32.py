"""Defects of the TF32 scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.numerics.altered import prefill_with
from contracts.numerics.defects import EngineDefect, seeded
from contracts.numerics.head_mutants.precision import shifted_logits
from contracts.numerics.oracle import Head
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contracts.numerics.altered import AlteredPrefill


class LeakingFlag(EngineDefect):
    """Leaves the process-wide setting changed after a request."""

    on_errors_only = False

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._leaked = False

    def prefill(self, tokens: Sequence[int]) -> Any:
        try:
            found = self.inner.prefill(tokens)
        except Exception:
            self._leaked = True
            raise
        self._leaked = self._leaked or not self.on_errors_only
        return found

    def matmul_flags(self) -> dict[str, str]:
        flags = dict(self.inner.matmul_flags())
        return dict.fromkeys(flags, "tf32") if self._leaked else flags


class LeakingOnErrors(LeakingFlag):
    """Leaves it changed after a failed request."""

    on_errors_only = True


class RoundedInputs(EngineDefect):
    """Each term of a logit's n is off by 2^-11 of it, and such errors add up like sqrt(n)."""

    def prefill(self, tokens: Sequence[int]) -> AlteredPrefill:
        found = self.inner.prefill(tokens)
        terms = np.abs(found.hidden.astype(np.float64)) @ np.abs(Head.of(self.loaded).weight).T
        off = 2.0**-11 * terms / np.sqrt(found.hidden.shape[-1])
        return prefill_with(found, logits=found.logits + off)


@head.mutant("NU-M121a", killed_by="NU-121")
def tf32_leaks(adapter: Any) -> Any:
    """leaves TF32 switched on for the process"""
    return seeded(LeakingFlag)(adapter)


@head.mutant("NU-M122a", killed_by="NU-122")
def tf32_leaks_on_errors(adapter: Any) -> Any:
    """leaves TF32 switched on for the process after an exception"""
    return seeded(LeakingOnErrors)(adapter)


@head.mutant("NU-M123a", killed_by="NU-123")
def tf32_off_by_two_budgets(adapter: Any) -> Any:
    """adds twice the budget of accumulation to every logit in TF32"""
    return seeded(shifted_logits(2.0), modes=("tf32",))(adapter)


@head.control("NU-C123a", tolerated_by="NU-123")
def tf32_off_by_half_a_budget(adapter: Any) -> Any:
    """adds half the budget of accumulation to every logit in TF32"""
    return seeded(shifted_logits(0.5), modes=("tf32",))(adapter)


@head.mutant("NU-M123b", killed_by="NU-123")
def inputs_rounded_to_tf32(adapter: Any) -> Any:
    """rounds an input that was no bf16 value to TF32, an error of 2^-11 of each of the logits' terms"""
    return seeded(RoundedInputs, modes=("tf32",))(adapter)
