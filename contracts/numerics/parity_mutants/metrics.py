"""Naive forms of the metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.mutant import Wrapper
from contracts.numerics.oracle import MEANS, mismatch
from contracts.numerics.parity_checks.metrics import ABSOLUTE, EQUAL, HUGE, RELATIVE, TINY, TURNS_AND_NONE, reported
from contracts.numerics.sides import parity

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.numerics.protocols import F64


class MeanOverPadding(Wrapper):
    """divides by all tokens, not by the valid ones"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        found = dict(self.inner.mismatch(lp_gen, lp_train, mask, **options))
        return {name: value * mask.mean() if name in MEANS else value for name, value in found.items()}


class MeanOfRows(Wrapper):
    """averages rows first and then their means"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        whole = dict(self.inner.mismatch(lp_gen, lp_train, mask, **options))
        rows = [mismatch(g, t, m) for g, t, m in zip(lp_gen, lp_train, mask, strict=True) if m.any()]
        return {**whole, **{name: float(np.mean([row[name] for row in rows])) for name in reported(whole)}}


class SidesSwapped(Wrapper):
    """takes the trainer for the rollout engine"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        found: dict[str, float] = self.inner.mismatch(lp_train, lp_gen, mask, **options)
        return found


class MaskOffByOne(Wrapper):
    """cuts the first token of the logprobs and the last of the mask"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        found: dict[str, float] = self.inner.mismatch(lp_gen, lp_train, np.roll(mask, -1, axis=-1), **options)
        return found


class NaiveInFp32(Wrapper):
    """computes exp(r) - r - 1 in fp32"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        found = dict(self.inner.mismatch(lp_gen, lp_train, mask, **options))
        r = (lp_train - lp_gen)[mask != 0].astype(np.float32)
        naive = np.exp(r) - r - np.float32(1.0)
        tokens = options.get("global_valid_tokens") or r.size
        return {**found, "gen_kl_error": float(naive.sum()) / tokens}


def scaled(factor: float) -> Callable[[Any], Any]:
    """Metrics that are off by a factor."""

    class Scaled(Wrapper):
        def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
            found = self.inner.mismatch(lp_gen, lp_train, mask, **options)
            return {name: value * factor for name, value in found.items()}

    return Scaled


def shifted(amount: float) -> Callable[[Any], Any]:
    """A divergence that is off by an amount, over the whole batch."""

    class Shifted(Wrapper):
        def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
            found = dict(self.inner.mismatch(lp_gen, lp_train, mask, **options))
            share = mask.sum() / (options.get("global_valid_tokens") or mask.sum())
            return {**found, "gen_kl_error": found["gen_kl_error"] + float(share) * amount}

    return Shifted


for _id, _naive in zip("abcd", (MeanOverPadding, MeanOfRows, SidesSwapped, MaskOffByOne), strict=True):
    parity.mutant(f"NU-M601{_id}", killed_by="NU-601")(_naive)
parity.mutant("NU-M601e", killed_by="NU-601", witness=TINY)(NaiveInFp32)


@parity.mutant("NU-M602a", killed_by="NU-602")
class VanishesInFp32(NaiveInFp32):
    """loses a divergence of 5e-9 in fp32"""


class LargestLeftOut(Wrapper):
    """reports means only"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        found = self.inner.mismatch(lp_gen, lp_train, mask, **options)
        return {name: found[name] for name in reported(found)}


class LargestClipped(Wrapper):
    """reports the 95th percentile as the largest gap"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        found = self.inner.mismatch(lp_gen, lp_train, mask, **options)
        gaps = np.abs(lp_gen - lp_train)[mask != 0]
        return {**found, "largest_gap": float(np.quantile(gaps, 0.95))}


parity.mutant("NU-M603a", killed_by="NU-603")(LargestLeftOut)
parity.mutant("NU-M603b", killed_by="NU-603")(LargestClipped)


@parity.mutant("NU-M605a", killed_by="NU-605")
class DivergenceAlone(Wrapper):
    """reports the divergence and nothing beside it"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        return {"gen_kl_error": self.inner.mismatch(lp_gen, lp_train, mask, **options)["gen_kl_error"]}


@parity.mutant("NU-M604a", killed_by="NU-604")
class LocalCount(Wrapper):
    """averages each microbatch over its own tokens"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        del options
        found: dict[str, float] = self.inner.mismatch(lp_gen, lp_train, mask)
        return found


@parity.mutant("NU-M601f", killed_by="NU-601", witness=HUGE)
class ClampedRatio(Wrapper):
    """clamps log ratios to 20 nats before they are exponentiated"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        near = lp_gen + np.clip(lp_train - lp_gen, -20.0, 20.0)
        found: dict[str, float] = self.inner.mismatch(lp_gen, near, mask, **options)
        return found


@parity.mutant("NU-M604b", killed_by="NU-604", witness=TURNS_AND_NONE)
class NothingIsPerfect(Wrapper):
    """answers 1 for the ratio of a microbatch without tokens"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        found: dict[str, float] = self.inner.mismatch(lp_gen, lp_train, mask, **options)
        return found if mask.any() else {**found, "token_mult_prob_error": 1.0, "sampling_importance_ratio": 1.0}


def _register_budget(check: str, budget: float) -> None:
    """Twice and half the relative budget of a check."""

    @parity.mutant(f"NU-M{check[3:]}y", killed_by=check)
    def off_by_two_budgets(pair: Any) -> Any:
        """returns means that are off by twice the budget"""
        return scaled(1.0 + 2.0 * budget)(pair)

    @parity.control(f"NU-C{check[3:]}a", tolerated_by=check)
    def off_by_half_a_budget(pair: Any) -> Any:
        """returns means that are off by half the budget"""
        return scaled(1.0 + 0.5 * budget)(pair)


for _check, _budget in (("NU-601", RELATIVE), ("NU-602", 0.01), ("NU-603", RELATIVE), ("NU-604", RELATIVE)):
    _register_budget(_check, _budget)


def _register_absolute_budget(check: str) -> None:
    """Twice and half the absolute budget of a check, where there is no divergence at all."""

    @parity.mutant(f"NU-M{check[3:]}z", killed_by=check, witness=EQUAL)
    def off_zero_by_two_budgets(pair: Any) -> Any:
        """returns a divergence of twice the absolute budget where there is none"""
        return shifted(2.0 * ABSOLUTE)(pair)

    @parity.control(f"NU-C{check[3:]}b", tolerated_by=check, witness=EQUAL)
    def off_zero_by_half_a_budget(pair: Any) -> Any:
        """returns a divergence of half the absolute budget where there is none"""
        return shifted(0.5 * ABSOLUTE)(pair)


for _check in ("NU-601", "NU-604"):
    _register_absolute_budget(_check)
