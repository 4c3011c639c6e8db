"""Masks that are ignored, numbers made of nothing, sequences dropped for the wrong reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.mutant import Wrapper
from contracts.numerics.oracle import MEANS, mismatch
from contracts.numerics.sides import parity

if TYPE_CHECKING:
    from contracts.numerics.protocols import F64


@parity.mutant("NU-M611a", killed_by="NU-611")
class MaskIgnored(Wrapper):
    """averages prompts and padding too"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        del options
        with np.errstate(all="ignore"):
            return mismatch(lp_gen, lp_train, np.ones_like(mask))


@parity.mutant("NU-M611b", killed_by="NU-611")
class MaskMultiplied(Wrapper):
    """multiplies by the mask after the arithmetic"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        del options
        with np.errstate(all="ignore"):
            terms = np.exp(np.abs(lp_train - lp_gen)) * mask
        mean = float(terms.sum() / mask.sum())
        finite = np.where(mask == 0, 0.0, lp_gen), np.where(mask == 0, 0.0, lp_train)
        return {**mismatch(*finite, mask), "token_mult_prob_error": mean}


@parity.mutant("NU-M612a", killed_by="NU-612")
class NothingIsZero(Wrapper):
    """answers an empty batch with zeros"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        if not mask.any():
            return dict.fromkeys((*MEANS, "largest_gap"), 0.0)
        found: dict[str, float] = self.inner.mismatch(lp_gen, lp_train, mask, **options)
        return found


@parity.mutant("NU-M613a", killed_by="NU-613")
class NanToNum(Wrapper):
    """turns what is not finite into zero"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        clean = (np.nan_to_num(side, nan=0.0, posinf=0.0, neginf=0.0) for side in (lp_gen, lp_train))
        found: dict[str, float] = self.inner.mismatch(*clean, mask, **options)
        return found


@parity.mutant("NU-M613b", killed_by="NU-613")
class NanMean(Wrapper):
    """leaves out of the mean what is not finite"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        finite = np.isfinite(lp_gen) & np.isfinite(lp_train)
        found: dict[str, float] = self.inner.mismatch(lp_gen, lp_train, mask * finite, **options)
        return found


@parity.mutant("NU-M615a", killed_by="NU-615")
class CarriesOn(Wrapper):
    """answers NaN where a token is not finite"""

    def mismatch(self, lp_gen: F64, lp_train: F64, mask: F64, **options: Any) -> dict[str, float]:
        if not np.isfinite(np.where(mask == 0, 0.0, lp_gen + lp_train)).all():
            return dict.fromkeys((*MEANS, "largest_gap"), float("nan"))
        found: dict[str, float] = self.inner.mismatch(lp_gen, lp_train, mask, **options)
        return found


def _row_errors(lp_gen: F64, lp_train: F64, mask: F64, divisor: F64) -> F64:
    gaps = np.where(mask == 0, 0.0, np.abs(lp_gen - lp_train))
    errors: F64 = (np.exp(gaps) * mask).sum(axis=1) / divisor
    return errors


@parity.mutant("NU-M614a", killed_by="NU-614")
class ThinnedByPadding(Wrapper):
    """averages a sequence's error over its padding too, and keeps empty ones"""

    def keep_sequences(self, lp_gen: F64, lp_train: F64, mask: F64, *, threshold: float) -> list[bool]:
        errors = _row_errors(lp_gen, lp_train, mask, np.full(len(mask), float(mask.shape[1])))
        return [bool(error <= threshold) for error in errors]


@parity.mutant("NU-M614b", killed_by="NU-614")
class NanIsKept(Wrapper):
    """keeps a sequence unless its error is above the threshold, which NaN is not"""

    def keep_sequences(self, lp_gen: F64, lp_train: F64, mask: F64, *, threshold: float) -> list[bool]:
        errors = _row_errors(lp_gen, lp_train, mask, np.maximum(mask.sum(axis=1), 1.0))
        return [bool(valid.any()) and not error > threshold for error, valid in zip(errors, mask, strict=True)]


@parity.mutant("NU-M614c", killed_by="NU-614")
class MaskedTokensJudge(Wrapper):
    """judges sequences by their masked tokens too"""

    def keep_sequences(self, lp_gen: F64, lp_train: F64, mask: F64, *, threshold: float) -> list[bool]:
        kept: list[bool] = self.inner.keep_sequences(lp_gen, lp_train, np.ones_like(mask), threshold=threshold)
        return kept
