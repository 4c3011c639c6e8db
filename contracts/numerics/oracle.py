"""What the head should compute, in fp64 from its own inputs; and the mismatch metrics by their definitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics.protocols import BIAS, EMBEDDING, HEAD, PLAIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from contracts.numerics.protocols import F32, F64, HeadShape, Prefill


@dataclass(frozen=True)
class Head:
    """A head's weights and what it does around the product.

    Attributes:
        weight: ``[vocab, hidden]``.
        bias: ``[vocab]``, zeros where there is none.
        shape: softcap and scale.
    """

    weight: F64
    bias: F64
    shape: HeadShape = PLAIN

    @classmethod
    def of(cls, weights: Mapping[str, F32], shape: HeadShape = PLAIN) -> Head:
        """The head of a checkpoint."""
        weight = np.asarray(weights[EMBEDDING if shape.tied else HEAD], dtype=np.float64)
        bias = np.asarray(weights[BIAS], dtype=np.float64) if shape.bias else np.zeros(len(weight))
        return cls(weight, bias, shape)

    def logits(self, hidden: F32) -> F64:
        """``[tokens, hidden]`` to ``[tokens, vocab]``."""
        logits: F64 = (hidden.astype(np.float64) @ self.weight.T + self.bias) * self.shape.logit_scale
        cap = self.shape.softcap
        return cap * np.tanh(logits / cap) if cap else logits

    def logprobs(self, hidden: F32, tokens: Sequence[int]) -> F64:
        """Log probabilities of ``tokens[1:]``, ``[tokens - 1]``, from hidden states of all tokens."""
        return token_logprobs(self.logits(hidden), tokens)

    def weight_gradient(self, hidden: F32, tokens: Sequence[int]) -> F64:
        """Gradient of the mean negative log probability of ``tokens[1:]``; ``hidden`` is at ``tokens[:-1]``."""
        spread = np.exp(log_softmax(self.logits(hidden)))
        spread[np.arange(len(hidden)), list(tokens[1:])] -= 1.0
        gradient: F64 = (spread / len(hidden)).T @ hidden.astype(np.float64)
        return gradient


def log_softmax(logits: F32 | F64) -> F64:
    """Over the last axis, in fp64."""
    shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
    result: F64 = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result


def token_logprobs(logits: F32 | F64, tokens: Sequence[int]) -> F64:
    """Log probabilities of ``tokens[1:]`` from logits ``[tokens, vocab]``."""
    picked: F64 = log_softmax(logits[:-1])[np.arange(len(tokens) - 1), list(tokens[1:])]
    return picked


def round_to_bf16(values: F32) -> F32:
    """Round to the nearest bf16, ties to even, and keep the fp32 type. Finite values only."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    result: F32 = rounded.astype(np.uint32).view(np.float32)
    return result


def on_bf16_grid(values: F32) -> NDArray[np.bool_]:
    """Which values bf16 represents exactly."""
    return np.asarray(round_to_bf16(values) == values)


MEANS = (
    "token_mult_prob_error",
    "gen_kl_error",
    "policy_kl_error",
    "js_divergence_error",
    "sampling_importance_ratio",
)


def mismatch(lp_gen: F64, lp_train: F64, mask: F64) -> dict[str, float]:
    """The means over valid tokens, and ``largest_gap``; needs a valid token, and finite ones."""
    gen, train = (np.asarray(side, dtype=np.float64)[np.asarray(mask) != 0] for side in (lp_gen, lp_train))
    r = train - gen
    mixture = np.logaddexp(train, gen) - np.log(2.0)
    return {
        "token_mult_prob_error": float(np.mean(np.exp(np.abs(r)))),
        "gen_kl_error": float(np.mean(_k3(r))),
        "policy_kl_error": float(np.mean(_k3(-r))),
        "js_divergence_error": float(np.mean(0.5 * _k3(train - mixture) + 0.5 * _k3(gen - mixture))),
        "sampling_importance_ratio": float(np.mean(np.exp(r))),
        "largest_gap": float(np.max(np.abs(r))),
    }


def _k3(r: F64) -> F64:
    return np.expm1(r) - r


def body_gap(rollout: Prefill, train: Prefill, head: Head, tokens: Sequence[int]) -> F64:
    """What the bodies alone make of ``lp_gen - lp_train``: exact heads on each side's own hidden states."""
    return head.logprobs(rollout.hidden, tokens) - head.logprobs(train.hidden, tokens)
