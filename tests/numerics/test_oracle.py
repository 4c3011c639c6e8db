"""The contract's own arithmetic, against torch and against definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from contracts.numerics import budgets
from contracts.numerics.oracle import (
    MEANS,
    Head,
    log_softmax,
    mismatch,
    on_bf16_grid,
    round_to_bf16,
    token_logprobs,
)
from contracts.numerics.protocols import HeadShape
from impl.numerics import metrics

RNG = np.random.default_rng(0)


def test_rounding_to_bf16_is_torchs() -> None:
    values = np.concatenate(
        (
            RNG.standard_normal(10_000).astype(np.float32) * 30,
            np.float32([0.0, -0.0, 1.0, 1.00390625, 1.01171875, 3e38, 1e-40, -2.5]),
        )
    )
    assert np.array_equal(round_to_bf16(values), torch.from_numpy(values).bfloat16().float().numpy())
    assert on_bf16_grid(round_to_bf16(values)).all()
    assert on_bf16_grid(values).mean() < 0.01


def test_log_softmax_and_token_logprobs_are_torchs() -> None:
    logits = RNG.standard_normal((6, 40)) * 20
    tokens = RNG.integers(0, 40, 6).tolist()
    wanted = torch.log_softmax(torch.from_numpy(logits), -1)
    assert np.allclose(log_softmax(logits), wanted.numpy(), rtol=0, atol=1e-12)
    assert np.allclose(token_logprobs(logits, tokens), wanted[range(5), tokens[1:]].numpy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [HeadShape(), HeadShape(softcap=30.0, logit_scale=0.8, bias=True)])
def test_head_and_its_gradient_are_autograds(shape: HeadShape) -> None:
    weight = RNG.standard_normal((40, 16))
    head = Head(weight, RNG.standard_normal(40) if shape.bias else np.zeros(40), shape)
    hidden, tokens = RNG.standard_normal((7, 16)).astype(np.float32), RNG.integers(0, 40, 8).tolist()
    w = torch.from_numpy(weight).requires_grad_()
    logits = (torch.from_numpy(hidden).double() @ w.t() + torch.from_numpy(head.bias)) * shape.logit_scale
    if shape.softcap:
        logits = shape.softcap * torch.tanh(logits / shape.softcap)
    assert np.allclose(head.logits(hidden), logits.detach().numpy(), rtol=0, atol=1e-12)
    if not shape.softcap:
        torch.nn.functional.cross_entropy(logits, torch.tensor(tokens[1:])).backward()
        assert w.grad is not None
        assert np.allclose(head.weight_gradient(hidden, tokens), w.grad.numpy(), rtol=0, atol=1e-12)


def test_metrics_are_those_of_the_reference() -> None:
    gen = -3 * RNG.random((3, 9))
    train, mask = gen + RNG.standard_normal((3, 9)) * 0.3, (RNG.random((3, 9)) > 0.3).astype(np.float64)
    found = mismatch(gen, train, mask)
    tensors = [torch.from_numpy(array) for array in (gen, train, mask)]
    for name in MEANS:
        assert found[name] == pytest.approx(getattr(metrics, name)(*tensors), rel=1e-12)
    assert found["largest_gap"] == pytest.approx(np.abs(gen - train)[mask == 1].max())


def test_metrics_by_hand() -> None:
    found = mismatch(np.array([[-1.0, -2.0]]), np.array([[-1.5, -2.0]]), np.ones((1, 2)))
    assert found["token_mult_prob_error"] == pytest.approx((math.exp(0.5) + 1) / 2)
    assert found["gen_kl_error"] == pytest.approx((math.exp(-0.5) + 0.5 - 1) / 2)
    assert found["policy_kl_error"] == pytest.approx((math.exp(0.5) - 0.5 - 1) / 2)
    assert found["sampling_importance_ratio"] == pytest.approx((math.exp(-0.5) + 1) / 2)


@pytest.mark.parametrize("hidden_size", [64, 1024])
def test_the_accumulation_budget_holds_for_fp32_and_not_for_bf16(hidden_size: int) -> None:
    """Measured where the budget is not used: another length, another kernel, another distribution."""
    x = torch.randn(16, hidden_size, generator=torch.Generator().manual_seed(1)).bfloat16()
    weight = torch.randn(256, hidden_size, generator=torch.Generator().manual_seed(2)).bfloat16() * 0.5
    head = Head(weight.double().numpy(), np.zeros(256))
    hidden = x.float().numpy()
    exact, budget = head.logits(hidden), budgets.logits(head, hidden)
    fp32 = np.abs((x.float() @ weight.float().t()).numpy() - exact) / budget
    bf16 = np.abs((x @ weight.t()).float().numpy() - exact) / budget
    assert 0.001 < fp32.max() < 0.5
    assert bf16.max() > 10
