"""How far the rollout engine's logprobs and the trainer's lie apart, token by token.

All functions take natural-log probabilities of the *sampled* tokens and a mask, three tensors of one
shape ``[..., tokens]`` aligned on the same token (cut ``[1:]`` from mask and logprobs alike). Prompt and
tool tokens are masked; what stands in the logprobs there is never read. Everything is computed in fp64.

Edge cases, each of which a naive form gets wrong without a sign:

- no valid token: `NoTokensError`, never 0.0, which would be better than perfect;
- a masked ``-inf`` or NaN: ignored (``inf * 0`` is NaN);
- a valid token that is not finite: `NonFiniteLogprobError` with their number;
- a gap of more than 709 nats between finite logprobs: ``inf``, in the means that exponentiate it;
- gaps of 1e-4: ``expm1(r) - r`` keeps 5e-9 where ``exp(r) - r - 1`` gives 0.0 in fp32;
- a microbatch without valid tokens is fine if ``global_valid_tokens`` says that others have some: it
  contributes 0.0.
"""

from __future__ import annotations

import math

import torch


class NoTokensError(ValueError):
    """No valid token: there is no error to speak of, and that is not the same as none."""


class NonFiniteLogprobError(ValueError):
    """Valid tokens have logprobs that are infinite or NaN."""


def token_mult_prob_error(
    lp_gen: torch.Tensor,
    lp_train: torch.Tensor,
    mask: torch.Tensor,
    *,
    global_valid_tokens: int | None = None,
) -> float:
    """Mean of ``exp(|lp_gen - lp_train|)``: 1.0 is agreement. Outliers dominate it: 60 nats give 1e26.

    Args:
        lp_gen: the rollout engine's logprobs.
        lp_train: the trainer's.
        mask: true (or 1) at valid tokens.
        global_valid_tokens: valid tokens of the whole batch, over all microbatches and ranks; the
            results of the parts then *sum* to the batch's value. None: these tensors are the batch.

    Raises:
        NoTokensError: no valid token in the batch.
        NonFiniteLogprobError: a valid token is not finite.
        ValueError: shapes differ, or the mask is not of zeros and ones.
    """
    gen, train = valid_pairs(lp_gen, lp_train, mask)
    return _mean((gen - train).abs().exp(), global_valid_tokens)


def gen_kl_error(
    lp_gen: torch.Tensor,
    lp_train: torch.Tensor,
    mask: torch.Tensor,
    *,
    global_valid_tokens: int | None = None,
) -> float:
    """Mean of ``exp(r) - r - 1`` with ``r = lp_train - lp_gen``: the k3 estimate of KL(gen || train) in nats.

    Arguments and errors as `token_mult_prob_error`.
    """
    gen, train = valid_pairs(lp_gen, lp_train, mask)
    return _mean(_k3(train - gen), global_valid_tokens)


def policy_kl_error(
    lp_gen: torch.Tensor,
    lp_train: torch.Tensor,
    mask: torch.Tensor,
    *,
    global_valid_tokens: int | None = None,
) -> float:
    """`gen_kl_error` with ``r`` negated. Arguments and errors as `token_mult_prob_error`."""
    gen, train = valid_pairs(lp_gen, lp_train, mask)
    return _mean(_k3(gen - train), global_valid_tokens)


def js_divergence_error(
    lp_gen: torch.Tensor,
    lp_train: torch.Tensor,
    mask: torch.Tensor,
    *,
    global_valid_tokens: int | None = None,
) -> float:
    """Mean of half of each side's k3 term against the mixture ``log(0.5 e^lp_train + 0.5 e^lp_gen)``.

    Arguments and errors as `token_mult_prob_error`.
    """
    gen, train = valid_pairs(lp_gen, lp_train, mask)
    mixture = torch.logaddexp(gen, train) - math.log(2.0)
    return _mean(0.5 * _k3(train - mixture) + 0.5 * _k3(gen - mixture), global_valid_tokens)


def sampling_importance_ratio(
    lp_gen: torch.Tensor,
    lp_train: torch.Tensor,
    mask: torch.Tensor,
    *,
    global_valid_tokens: int | None = None,
) -> float:
    """Mean of ``exp(lp_train - lp_gen)``. Arguments and errors as `token_mult_prob_error`."""
    gen, train = valid_pairs(lp_gen, lp_train, mask)
    return _mean((train - gen).exp(), global_valid_tokens)


def count_nonfinite(lp_gen: torch.Tensor, lp_train: torch.Tensor, mask: torch.Tensor) -> int:
    """How many valid tokens have an infinite or NaN logprob on either side."""
    gen, train = _select(lp_gen, lp_train, mask)
    return int((~(gen.isfinite() & train.isfinite())).sum())


def gap_quantiles(
    lp_gen: torch.Tensor,
    lp_train: torch.Tensor,
    mask: torch.Tensor,
    probabilities: tuple[float, ...] = (0.5, 0.9, 0.99, 1.0),
) -> dict[float, float]:
    """Quantiles of ``|lp_gen - lp_train|`` over valid tokens, in nats; they do not sum over microbatches.

    Raises:
        NoTokensError: no valid token.
        NonFiniteLogprobError: a valid token is not finite.
    """
    gen, train = valid_pairs(lp_gen, lp_train, mask)
    if not gen.numel():
        raise NoTokensError("no valid token: quantiles of nothing do not exist")
    gaps = (gen - train).abs().sort().values
    # Nearest rank by hand: torch.quantile refuses more than 2^24 elements, which a long batch has.
    last = gaps.numel() - 1
    return {p: float(gaps[min(last, max(0, math.ceil(p * gaps.numel()) - 1))]) for p in probabilities}


def valid_pairs(lp_gen: torch.Tensor, lp_train: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Select the valid tokens of both sides as flat fp64 tensors.

    Raises:
        NonFiniteLogprobError: a selected token is not finite.
        ValueError: shapes differ, or the mask is not of zeros and ones.
    """
    gen, train = _select(lp_gen, lp_train, mask)
    bad = int((~(gen.isfinite() & train.isfinite())).sum())
    if bad:
        raise NonFiniteLogprobError(f"{bad} of {gen.numel()} valid tokens have an infinite or NaN logprob")
    return gen, train


def _select(lp_gen: torch.Tensor, lp_train: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mask before any arithmetic, so that nothing masked can poison a sum."""
    if not lp_gen.shape == lp_train.shape == mask.shape:
        shapes = tuple(lp_gen.shape), tuple(lp_train.shape), tuple(mask.shape)
        raise ValueError(f"lp_gen, lp_train and mask have shapes {shapes}: align all three on the sampled token")
    chosen = mask != 0
    if not bool((mask[chosen] == 1).all()):
        raise ValueError("the mask must hold zeros and ones: multiply weights in elsewhere")
    return lp_gen.detach()[chosen].double(), lp_train.detach()[chosen].double()


def _k3(r: torch.Tensor) -> torch.Tensor:
    """``exp(r) - r - 1`` without the cancellation."""
    return torch.expm1(r) - r


def _mean(terms: torch.Tensor, global_valid_tokens: int | None) -> float:
    """The terms' sum over the batch's number of valid tokens."""
    tokens = terms.numel() if global_valid_tokens is None else global_valid_tokens
    if tokens == 0:
        raise NoTokensError("no valid token in the batch: the error does not exist, and is not zero")
    if tokens < terms.numel():
        raise ValueError(f"global_valid_tokens is {tokens}, but these tensors alone have {terms.numel()}")
    return float(terms.sum()) / tokens
