"""A linear layer's product in fp32, whose backward holds no fp32 copy of the weight.

Written out as ``linear(x.float(), w.float())``, autograd would keep ``w.float()``, twice the head's size,
from each forward to its backward. Here the tensors are saved in their own dtype and upcast again.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from impl.numerics.matmul_precision import fp32_matmul_precision


class _Fp32Linear(torch.autograd.Function):
    """``x @ w.T`` with fp32 GEMMs forward and backward; gradients in their tensors' own dtypes."""

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        weight: torch.Tensor,
        stored: torch.dtype,
        tf32: bool,  # noqa: FBT001 - autograd passes its arguments by position
    ) -> torch.Tensor:
        """``x [..., hidden]``, ``weight [vocab, hidden]`` to fp32 ``[..., vocab]``."""
        ctx.save_for_backward(x.to(stored), weight)
        ctx.x_dtype, ctx.tf32 = x.dtype, tf32
        with torch.autocast(x.device.type, enabled=False), fp32_matmul_precision(tf32=tf32):
            return functional.linear(x.float(), weight.float())

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None, None, None]:
        """``d x`` and ``d weight``, each an fp32 GEMM rounded once to its tensor's dtype."""
        x, weight = ctx.saved_tensors
        grad = grads[0].float()
        grad_x = grad_weight = None
        with torch.autocast(x.device.type, enabled=False), fp32_matmul_precision(tf32=ctx.tf32):
            if ctx.needs_input_grad[0]:
                grad_x = (grad @ weight.float()).to(ctx.x_dtype)
            if ctx.needs_input_grad[1]:
                rows = grad.reshape(-1, grad.shape[-1])
                grad_weight = (rows.t() @ x.reshape(-1, x.shape[-1]).float()).to(weight.dtype)
        return grad_x, grad_weight, None, None


def fp32_linear(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    stored: torch.dtype | None = None,
    tf32: bool = False,
) -> torch.Tensor:
    """Compute ``x @ weight.T + bias`` in fp32 and leave it there.

    Args:
        x: ``[..., hidden]``, any floating dtype.
        weight: ``[vocab, hidden]``, bf16, fp16 or fp32; its gradient arrives in its own dtype.
        bias: ``[vocab]`` or None, added in fp32.
        stored: the dtype to keep ``x`` in for the backward, where ``x`` holds values of a narrower dtype
            than its own; None for its own.
        tf32: run the GEMMs on TF32 tensor cores (CUDA). Exact in the forward for bf16 tensors; the
            backward rounds the incoming gradient to TF32's 11 significant bits.

    Returns:
        fp32 ``[..., vocab]``.
    """
    out: torch.Tensor = _Fp32Linear.apply(x, weight, stored or x.dtype, tf32)  # type: ignore[no-untyped-call]  # torch declares apply without types
    return out if bias is None else out + bias.float()
