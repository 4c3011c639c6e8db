from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
import torch

from impl.numerics import metrics
from impl.numerics.mismatch_report import MismatchSums, mismatch_sums, sequence_mult_prob_error

if TYPE_CHECKING:
    from collections.abc import Callable

MEANS = (
    metrics.token_mult_prob_error,
    metrics.gen_kl_error,
    metrics.policy_kl_error,
    metrics.js_divergence_error,
    metrics.sampling_importance_ratio,
)


@pytest.fixture
def batch() -> Any:
    rng = torch.Generator().manual_seed(3)
    gen = -5 * torch.rand(4, 9, generator=rng, dtype=torch.float64)
    train = gen + 0.2 * torch.randn(4, 9, generator=rng, dtype=torch.float64)
    mask = (torch.rand(4, 9, generator=rng) > 0.4).long()
    return gen, train, mask


def by_hand(gen: torch.Tensor, train: torch.Tensor, mask: torch.Tensor) -> Any:
    terms = {function: [] for function in MEANS}
    for g, t, m in zip(gen.flatten().tolist(), train.flatten().tolist(), mask.flatten().tolist(), strict=True):
        if not m:
            continue
        r, mix = t - g, math.log(0.5 * math.exp(g) + 0.5 * math.exp(t))
        terms[metrics.token_mult_prob_error].append(math.exp(abs(r)))
        terms[metrics.gen_kl_error].append(math.exp(r) - r - 1)
        terms[metrics.policy_kl_error].append(math.exp(-r) + r - 1)
        terms[metrics.js_divergence_error].append(
            0.5 * (math.exp(t - mix) - (t - mix) - 1) + 0.5 * (math.exp(g - mix) - (g - mix) - 1)
        )
        terms[metrics.sampling_importance_ratio].append(math.exp(r))
    return {function: sum(values) / len(values) for function, values in terms.items()}


@pytest.mark.parametrize("function", MEANS)
def test_means_equal_the_definition(function: Callable[..., Any], batch: tuple[torch.Tensor, ...]) -> None:
    assert function(*batch) == pytest.approx(by_hand(*batch)[function], rel=1e-12)


@pytest.mark.parametrize("function", MEANS)
def test_bf16_logprobs_are_averaged_in_fp64(function: Callable[..., Any], batch: tuple[torch.Tensor, ...]) -> None:
    gen, train, mask = batch
    gen, train = gen.bfloat16(), train.bfloat16()
    assert function(gen, train, mask) == pytest.approx(by_hand(gen.double(), train.double(), mask)[function], rel=1e-12)


@pytest.mark.parametrize("function", MEANS)
def test_microbatches_sum_to_the_batch(function: Callable[..., Any], batch: tuple[torch.Tensor, ...]) -> None:
    valid = int(batch[2].sum())
    parts = [function(*(tensor[i : i + 1] for tensor in batch), global_valid_tokens=valid) for i in range(4)]
    assert sum(parts) == pytest.approx(function(*batch), rel=1e-12)


@pytest.mark.parametrize("function", MEANS)
def test_an_empty_microbatch_contributes_nothing(function: Callable[..., Any], batch: tuple[torch.Tensor, ...]) -> None:
    gen, train, mask = batch
    assert function(gen, train, torch.zeros_like(mask), global_valid_tokens=7) == 0.0


@pytest.mark.parametrize("function", [*MEANS, metrics.gap_quantiles])
def test_all_masked_is_no_tokens_not_zero(function: Callable[..., Any], batch: tuple[torch.Tensor, ...]) -> None:
    gen, train, mask = batch
    with pytest.raises(metrics.NoTokensError):
        function(gen, train, torch.zeros_like(mask))


@pytest.mark.parametrize("function", MEANS)
@pytest.mark.parametrize("poison", [-math.inf, math.inf, math.nan])
def test_what_is_masked_never_poisons(
    function: Callable[..., Any], poison: float, batch: tuple[torch.Tensor, ...]
) -> None:
    gen, train, mask = batch
    clean = function(gen, train, mask)
    poisoned = torch.where(mask == 0, poison, gen)
    assert function(poisoned, torch.where(mask == 0, poison, train), mask) == clean


@pytest.mark.parametrize("function", [*MEANS, metrics.gap_quantiles])
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("poison", [-math.inf, math.nan])
def test_a_valid_token_that_is_not_finite_is_an_error(
    function: Callable[..., Any], side: int, poison: float, batch: tuple[torch.Tensor, ...]
) -> None:
    tensors = [tensor.clone() for tensor in batch]
    row, column = (int(index[0]) for index in torch.nonzero(batch[2], as_tuple=True))
    tensors[side][row, column] = poison
    with pytest.raises(metrics.NonFiniteLogprobError, match="1 of"):
        function(*tensors)
    assert metrics.count_nonfinite(*tensors) == 1


def test_tiny_gaps_do_not_cancel() -> None:
    gen = torch.tensor([-2.0])
    train = gen.double() + 1e-4
    assert metrics.gen_kl_error(gen, train, torch.ones(1)) == pytest.approx(5.0e-9, rel=1e-3)


def test_one_outlier_of_sixty_nats() -> None:
    gen, train = torch.zeros(3), torch.tensor([0.0, 0.0, -60.0])
    assert metrics.token_mult_prob_error(gen, train, torch.ones(3)) == pytest.approx(math.exp(60) / 3 + 2 / 3)
    assert metrics.gen_kl_error(gen, train, torch.ones(3)) == pytest.approx(59 / 3)


def test_a_shift_on_one_side_is_refused(batch: tuple[torch.Tensor, ...]) -> None:
    gen, train, mask = batch
    with pytest.raises(ValueError, match="align"):
        metrics.gen_kl_error(gen[:, 1:], train[:, 1:], mask)


def test_a_weighted_mask_is_refused(batch: tuple[torch.Tensor, ...]) -> None:
    gen, train, mask = batch
    with pytest.raises(ValueError, match="zeros and ones"):
        metrics.gen_kl_error(gen, train, mask * 0.5)


def test_a_global_count_below_the_local_one_is_refused(batch: tuple[torch.Tensor, ...]) -> None:
    with pytest.raises(ValueError, match="global_valid_tokens"):
        metrics.gen_kl_error(*batch, global_valid_tokens=1)


def test_quantiles_are_nearest_rank() -> None:
    gaps = torch.arange(1, 101, dtype=torch.float64) / 100
    found = metrics.gap_quantiles(torch.zeros(100), -gaps, torch.ones(100))
    assert found == {0.5: 0.5, 0.9: 0.9, 0.99: 0.99, 1.0: 1.0}


def test_sequence_errors_name_what_they_cannot_judge() -> None:
    gen = torch.tensor([[0.0, 0.0], [0.0, math.nan], [0.0, 0.0], [0.0, 0.0]])
    train = torch.tensor([[0.1, 0.1], [0.0, 0.0], [0.0, 0.0], [2.0, 2.0]])
    mask = torch.tensor([[1, 1], [1, 1], [0, 0], [0, 1]])
    found = sequence_mult_prob_error(gen, train, mask)
    assert found.errors[0] == pytest.approx(math.exp(0.1), rel=1e-6)
    assert found.errors[3] == pytest.approx(math.exp(2.0), rel=1e-6)
    assert found.errors[1:3].isnan().all()
    assert found.nonfinite.tolist() == [0, 1, 0, 0]
    assert found.tokens.tolist() == [2, 2, 0, 1]
    assert found.keep(1.5).tolist() == [True, False, False, False]


@pytest.mark.parametrize("shapes", [((2, 3), (3, 3), (2, 3)), ((2, 3), (2, 4), (2, 3)), ((3,), (3,), (3,))])
def test_sequences_of_unlike_shapes_are_refused(shapes: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ValueError, match=r"as \[sequences, tokens\]"):
        sequence_mult_prob_error(*map(torch.ones, shapes))


def test_no_sequences_are_no_sequences() -> None:
    found = sequence_mult_prob_error(*(torch.zeros(0, 3),) * 3)
    assert found.keep().shape == found.nonfinite.shape == (0,)


def test_a_gap_beyond_what_can_be_exponentiated_is_infinite_and_dropped() -> None:
    gen, train = torch.zeros(1, 1), torch.full((1, 1), -800.0)
    assert metrics.token_mult_prob_error(gen, train, torch.ones(1, 1)) == math.inf
    assert metrics.gen_kl_error(gen, train, torch.ones(1, 1)) == pytest.approx(799)
    assert not sequence_mult_prob_error(gen, train, torch.ones(1, 1)).keep(1.5).any()


def test_sums_add_up_over_ranks(batch: tuple[torch.Tensor, ...]) -> None:
    parts = [mismatch_sums(*(tensor[i : i + 2] for tensor in batch)) for i in (0, 2)]
    total = sum(parts, MismatchSums()).means()
    expected = by_hand(*batch)
    for function in MEANS:
        assert total[function.__name__] == pytest.approx(expected[function], rel=1e-12)
    assert total["mean_signed_gap"] == pytest.approx(float((batch[0] - batch[1])[batch[2] == 1].mean()))


def test_sums_keep_nonfinite_and_emptiness_in_sight(batch: tuple[torch.Tensor, ...]) -> None:
    gen, train, mask = batch
    with pytest.raises(metrics.NoTokensError):
        mismatch_sums(gen, train, torch.zeros_like(mask)).means()
    poisoned = gen.clone()
    poisoned[mask == 1] = math.nan
    sums = mismatch_sums(poisoned, train, mask)
    assert sums.nonfinite == sums.tokens == int(mask.sum())
    with pytest.raises(metrics.NonFiniteLogprobError):
        (sums + mismatch_sums(gen, train, mask)).means()
