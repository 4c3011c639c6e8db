"""Mismatch of a whole batch: per sequence, over microbatches and ranks, and as one record."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from impl.numerics import metrics


@dataclass(frozen=True)
class SequenceErrors:
    """`token_mult_prob_error` of every sequence of a batch.

    Attributes:
        errors: fp64 ``[sequences]``; NaN where a sequence has no valid token or one that is not finite.
        tokens: valid tokens of each, ``[sequences]``.
        nonfinite: valid tokens of each that are not finite, ``[sequences]``.
    """

    errors: torch.Tensor
    tokens: torch.Tensor
    nonfinite: torch.Tensor

    def keep(self, threshold: float = 1.5) -> torch.Tensor:
        """Which sequences to train on: with tokens, all finite, and an error of at most ``threshold``.

        A sequence that is dropped for being NaN is dropped here by name, not by ``nan <= threshold``; see
        `nonfinite` for how many there were.
        """
        return (self.tokens > 0) & (self.nonfinite == 0) & (self.errors <= threshold)


def sequence_mult_prob_error(lp_gen: torch.Tensor, lp_train: torch.Tensor, mask: torch.Tensor) -> SequenceErrors:
    """Compute `metrics.token_mult_prob_error` of each sequence of ``[sequences, tokens]``.

    Raises:
        ValueError: the tensors are not two-dimensional and alike, or the mask is not of zeros and ones.
    """
    shapes = tuple(lp_gen.shape), tuple(lp_train.shape), tuple(mask.shape)
    if lp_gen.dim() != 2 or len(set(shapes)) != 1:  # noqa: PLR2004 - sequences and tokens
        raise ValueError(f"sequence errors need lp_gen, lp_train and mask as [sequences, tokens], not {shapes}")
    errors, nonfinite = [], []
    for gen, train, valid in zip(lp_gen, lp_train, mask, strict=True):
        bad = metrics.count_nonfinite(gen, train, valid)
        usable = bad == 0 and bool((valid != 0).any())
        errors.append(metrics.token_mult_prob_error(gen, train, valid) if usable else math.nan)
        nonfinite.append(bad)
    tokens = (mask != 0).sum(dim=-1)
    return SequenceErrors(torch.tensor(errors, dtype=torch.float64), tokens, torch.tensor(nonfinite, dtype=torch.int64))


@dataclass(frozen=True)
class MismatchSums:
    """Sums over valid tokens that add up over microbatches and ranks; divide at the end, once.

    Attributes:
        tokens: valid tokens, finite or not.
        nonfinite: those with an infinite or NaN logprob; they enter no other sum.
        mult_prob_error: sum of ``exp(|gap|)``.
        gen_kl: sum of the k3 terms of `metrics.gen_kl_error`, in nats.
        policy_kl: the same for `metrics.policy_kl_error`.
        js_divergence: the same for `metrics.js_divergence_error`.
        importance_ratio: sum of ``exp(lp_train - lp_gen)``.
        signed_gap: sum of ``lp_gen - lp_train``: one-sided drift shows here and nowhere else.
        largest_gap: largest ``|lp_gen - lp_train|``.
    """

    tokens: int = 0
    nonfinite: int = 0
    mult_prob_error: float = 0.0
    gen_kl: float = 0.0
    policy_kl: float = 0.0
    js_divergence: float = 0.0
    importance_ratio: float = 0.0
    signed_gap: float = 0.0
    largest_gap: float = 0.0

    def __add__(self, other: MismatchSums) -> MismatchSums:
        pairs = {name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__}
        pairs["largest_gap"] = max(self.largest_gap, other.largest_gap)
        return MismatchSums(**pairs)

    def means(self) -> dict[str, float]:
        """The batch's metrics under their usual names.

        Raises:
            NoTokensError: no valid token in the batch.
            NonFiniteLogprobError: some valid tokens are not finite.
        """
        if self.nonfinite:
            raise metrics.NonFiniteLogprobError(f"{self.nonfinite} of {self.tokens} valid tokens are not finite")
        if not self.tokens:
            raise metrics.NoTokensError("no valid token in the batch: its error does not exist, and is not zero")
        return {
            "token_mult_prob_error": self.mult_prob_error / self.tokens,
            "gen_kl_error": self.gen_kl / self.tokens,
            "policy_kl_error": self.policy_kl / self.tokens,
            "js_divergence_error": self.js_divergence / self.tokens,
            "sampling_importance_ratio": self.importance_ratio / self.tokens,
            "mean_signed_gap": self.signed_gap / self.tokens,
        }


def mismatch_sums(lp_gen: torch.Tensor, lp_train: torch.Tensor, mask: torch.Tensor) -> MismatchSums:
    """Sum one microbatch, or one rank's part; see `metrics` for the tensors.

    Raises:
        ValueError: shapes differ, or the mask is not of zeros and ones.
    """
    bad = metrics.count_nonfinite(lp_gen, lp_train, mask)
    tokens = int((mask != 0).sum())
    finite = (mask != 0) & lp_gen.isfinite() & lp_train.isfinite()
    if not bool(finite.any()):
        return MismatchSums(tokens=tokens, nonfinite=bad)
    tensors = (lp_gen, lp_train, finite)
    gen, train = metrics.valid_pairs(*tensors)
    return MismatchSums(
        tokens=tokens,
        nonfinite=bad,
        mult_prob_error=metrics.token_mult_prob_error(*tensors) * gen.numel(),
        gen_kl=metrics.gen_kl_error(*tensors) * gen.numel(),
        policy_kl=metrics.policy_kl_error(*tensors) * gen.numel(),
        js_divergence=metrics.js_divergence_error(*tensors) * gen.numel(),
        importance_ratio=metrics.sampling_importance_ratio(*tensors) * gen.numel(),
        signed_gap=float((gen - train).sum()),
        largest_gap=float((gen - train).abs().max()),
    )
