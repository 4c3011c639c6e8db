from __future__ import annotations

from typing import Any

import pytest
import torch

from impl.numerics.fp32_linear import fp32_linear

ROWS, HIDDEN, VOCAB = 48, 128, 320


@pytest.fixture
def tensors() -> Any:
    torch.manual_seed(0)
    x = torch.randn(4, ROWS // 4, HIDDEN).bfloat16().requires_grad_()
    weight = (torch.randn(VOCAB, HIDDEN) * 2).bfloat16().requires_grad_()
    bias = torch.randn(VOCAB).bfloat16().requires_grad_()
    return x, weight, bias


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> Any:
    x, weight, bias = (tensor.detach().double().requires_grad_() for tensor in (x, weight, bias))
    logits = x @ weight.t() + bias
    torch.logsumexp(logits, -1).sum().backward()
    return logits.detach(), x.grad, weight.grad, bias.grad


@pytest.mark.parametrize("tf32", [False, True])
def test_logits_are_fp32_and_off_the_bf16_grid(tensors: tuple[torch.Tensor, ...], *, tf32: bool) -> None:
    logits = fp32_linear(*tensors, tf32=tf32)
    exact, *_ = reference(*tensors)
    assert logits.dtype == torch.float32
    # Pessimistic rounding of a sum of HIDDEN fp32 terms.
    bound = HIDDEN * 2**-24 * (tensors[0].double().abs() @ tensors[1].double().abs().t()).max()
    assert (logits - exact).abs().max() <= bound
    assert not torch.equal(logits, logits.bfloat16().float())


@pytest.mark.parametrize("tf32", [False, True])
def test_gradients_arrive_in_each_tensors_dtype_within_one_bf16_rounding(
    tensors: tuple[torch.Tensor, ...], *, tf32: bool
) -> None:
    torch.logsumexp(fp32_linear(*tensors, tf32=tf32), -1).sum().backward()
    _, *exact = reference(*tensors)
    for tensor, wanted in zip(tensors, exact, strict=True):
        assert tensor.grad.dtype == torch.bfloat16
        # bf16 keeps 8 significant bits: half a step is 2^-9 of the value; twice that allows for the fp32 sums.
        error = (tensor.grad.double() - wanted).norm() / wanted.norm()
        assert error < 2**-8


def test_no_fp32_copy_is_kept_for_the_backward(tensors: tuple[torch.Tensor, ...]) -> None:
    saved = []

    def pack(tensor: Any) -> Any:
        saved.append(tensor)
        return tensor

    x, weight, _ = tensors
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        fp32_linear(x, weight)
    assert {tensor.dtype for tensor in saved} == {torch.bfloat16}
    assert any(tensor.data_ptr() == weight.data_ptr() for tensor in saved)


def test_a_hidden_state_already_in_fp32_is_saved_narrow_when_it_holds_bf16_values(
    tensors: tuple[torch.Tensor, ...],
) -> None:
    saved = []
    x, weight, _ = tensors
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (saved.append(t), t)[1], lambda t: t):
        out = fp32_linear(x.float(), weight, stored=torch.bfloat16)
    assert all(tensor.dtype == torch.bfloat16 for tensor in saved if tensor.numel() >= ROWS * HIDDEN)
    torch.logsumexp(out, -1).sum().backward()
    again = tensors[1].grad.clone()
    tensors[1].grad = None
    torch.logsumexp(fp32_linear(x, weight), -1).sum().backward()
    assert torch.equal(tensors[1].grad, again)


def test_autocast_does_not_take_the_head_back_to_bf16(tensors: tuple[torch.Tensor, ...]) -> None:
    plain = fp32_linear(*tensors)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = fp32_linear(*tensors)
    assert inside.dtype == torch.float32
    assert torch.equal(plain, inside)


def test_a_frozen_weight_gets_no_gradient(tensors: tuple[torch.Tensor, ...]) -> None:
    x, weight, bias = tensors
    weight.requires_grad_(requires_grad=False)
    fp32_linear(x, weight, bias).sum().backward()
    assert weight.grad is None
    assert x.grad is not None
