"""A Llama in plain torch, bf16, with the head computed as asked; Hugging Face's names and arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import nn
from torch.nn import functional

from impl.numerics.cached_head import cached_head_of
from impl.numerics.fp32_linear import fp32_linear
from impl.numerics.refit_hooks import reads_cached_head

if TYPE_CHECKING:
    from collections.abc import Iterable

    from impl.numerics.checkpoint import HeadShape, LlamaShape

HeadStrategy = Literal["model", "per_call", "tf32", "cached"]
"""``model``: in the model's dtype; ``per_call``: upcast at each call; ``tf32``: so, on TF32 tensor cores;
``cached``: from an fp32 copy."""

KeysValues = tuple[torch.Tensor, torch.Tensor]
"""One layer's cache, each ``[batch, heads, tokens, head_dim]``."""


class RMSNorm(nn.Module):
    """Root-mean-square norm, computed in fp32 and returned in the model's dtype."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size, dtype=torch.bfloat16))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``[..., size]`` to the same."""
        wide = x.float()
        normed: torch.Tensor = (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype)
        return self.weight * normed


def _linear(inputs: int, outputs: int) -> nn.Linear:
    return nn.Linear(inputs, outputs, bias=False, dtype=torch.bfloat16)


class Attention(nn.Module):
    """Causal self-attention with rotary positions and a cache; ``fused`` picks one of two kernels."""

    def __init__(self, shape: LlamaShape, *, fused: bool) -> None:
        super().__init__()
        self.shape, self.fused = shape, fused
        self.q_proj = _linear(shape.hidden, shape.hidden)
        self.k_proj = _linear(shape.hidden, shape.hidden)
        self.v_proj = _linear(shape.hidden, shape.hidden)
        self.o_proj = _linear(shape.hidden, shape.hidden)

    def forward(self, x: torch.Tensor, past: KeysValues | None) -> tuple[torch.Tensor, KeysValues]:
        """``[batch, new, hidden]`` to the same, and the cache with the new tokens in it."""
        batch, new, _ = x.shape
        split = (batch, new, self.shape.heads, self.shape.head_dim)
        q, k, v = (p(x).view(split).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        start = 0 if past is None else past[0].shape[2]
        cos, sin = _rotary(self.shape, start, new, x.device)
        q, k = _rotate(q, cos, sin), _rotate(k, cos, sin)
        if past is not None:
            k, v = torch.cat((past[0], k), dim=2), torch.cat((past[1], v), dim=2)
        rows = torch.arange(start, start + new, device=x.device)[:, None]
        visible = rows >= torch.arange(start + new, device=x.device)[None, :]
        if self.fused:
            mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=visible)
        else:
            scores = (q @ k.transpose(2, 3)) * self.shape.head_dim**-0.5
            scores = scores.masked_fill(~visible, -torch.inf)
            mixed = scores.softmax(-1, dtype=torch.float32).to(v.dtype) @ v
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, new, -1)), (k, v)


class Mlp(nn.Module):
    """The gated feed-forward part."""

    def __init__(self, shape: LlamaShape) -> None:
        super().__init__()
        self.gate_proj = _linear(shape.hidden, shape.ffn)
        self.up_proj = _linear(shape.hidden, shape.ffn)
        self.down_proj = _linear(shape.ffn, shape.hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``[..., hidden]`` to the same."""
        out: torch.Tensor = self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))
        return out


class Layer(nn.Module):
    """Attention and feed-forward around a residual stream."""

    def __init__(self, shape: LlamaShape, *, fused: bool) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(shape.hidden, shape.eps)
        self.self_attn = Attention(shape, fused=fused)
        self.post_attention_layernorm = RMSNorm(shape.hidden, shape.eps)
        self.mlp = Mlp(shape)

    def forward(self, x: torch.Tensor, past: KeysValues | None) -> tuple[torch.Tensor, KeysValues]:
        """``[batch, new, hidden]`` to the same, and this layer's cache."""
        mixed, cache = self.self_attn(self.input_layernorm(x), past)
        x = x + mixed
        return x + self.mlp(self.post_attention_layernorm(x)), cache


class Body(nn.Module):
    """Embedding, layers and final norm."""

    def __init__(self, shape: LlamaShape, rows: int, *, fused: bool) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(rows, shape.hidden, dtype=torch.bfloat16)
        self.layers = nn.ModuleList(Layer(shape, fused=fused) for _ in range(shape.layers))
        self.norm = RMSNorm(shape.hidden, shape.eps)

    def forward(
        self, tokens: torch.Tensor, past: list[KeysValues] | None = None
    ) -> tuple[torch.Tensor, list[KeysValues]]:
        """``[batch, new]`` token ids to hidden states ``[batch, new, hidden]``, and the caches."""
        x, caches = self.embed_tokens(tokens), []
        for i, layer in enumerate(self.layers):
            x, cache = layer(x, None if past is None else past[i])
            caches.append(cache)
        return self.norm(x), caches


class Llama(nn.Module):
    """The language model; ``strategy`` says how its head computes, ``fused`` which attention kernel runs.

    A rollout engine and a trainer never share their kernels; two values of ``fused`` give two bodies whose
    hidden states differ by as much as bf16 makes them.
    """

    def __init__(self, shape: LlamaShape, head: HeadShape, strategy: HeadStrategy, *, fused: bool = True) -> None:
        super().__init__()
        self.shape, self.head, self.strategy = shape, head, strategy
        rows = -(-(shape.vocab + 1) // shape.padding) * shape.padding if head.vocab_padding else shape.vocab
        self.model = Body(shape, rows, fused=fused)
        if head.kind != "missing":
            self.lm_head = nn.Linear(shape.hidden, rows, bias=head.bias, dtype=torch.bfloat16)
            if head.tied:
                self.lm_head.weight = self.model.embed_tokens.weight
            if head.kind == "quantized":
                self.lm_head.weight = nn.Parameter(self.lm_head.weight.to(torch.int8), requires_grad=False)
            elif rows > shape.vocab:
                with torch.no_grad():  # rows that no token stands for, and that would win every softmax
                    self.lm_head.weight[shape.vocab :] = 40.0

    @reads_cached_head
    def compute_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """``[..., hidden]`` to logits ``[..., vocab]``: fp32, or bf16 under the strategy ``model``."""
        weight, bias = self.lm_head.weight, self.lm_head.bias
        if self.strategy == "model":
            logits = functional.linear(hidden, weight, bias)
        elif self.strategy == "cached":
            logits = cached_head_of(self).logits(hidden, bias)
        else:
            logits = fp32_linear(hidden, weight, bias, tf32=self.strategy == "tf32")
        logits = logits[..., : self.shape.vocab]
        if self.head.logit_scale != 1.0:
            logits = logits * self.head.logit_scale
        if self.head.softcap:
            logits = self.head.softcap * torch.tanh(logits / self.head.softcap)
        return logits

    def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        """Copy weights into the parameters' storage, the way engines do.

        Args:
            weights: names and tensors; a head tied to the embedding may come under either name.

        Raises:
            KeyError: a name that the model does not have.
            ValueError: a tensor of another size.
        """
        own = dict(self.named_parameters(remove_duplicate=False))
        for name, tensor in weights:
            if name not in own:
                raise KeyError(f"the model has no parameter {name!r}")
            target = own[name].data
            rows = target[: self.shape.vocab] if len(target) != len(tensor) and self.head.vocab_padding else target
            if rows.shape != tensor.shape:
                raise ValueError(f"{name} is {tuple(rows.shape)} here and {tuple(tensor.shape)} in the update")
            rows.copy_(tensor)


def _rotary(shape: LlamaShape, start: int, new: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosine and sine ``[new, head_dim]`` of the rotary angles."""
    steps = torch.arange(0, shape.head_dim, 2, device=device, dtype=torch.float32) / shape.head_dim
    positions = torch.arange(start, start + new, device=device, dtype=torch.float32)
    angles = torch.outer(positions, shape.rope_theta**-steps)
    doubled = torch.cat((angles, angles), dim=-1)
    return doubled.cos().bfloat16(), doubled.sin().bfloat16()


def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turn query or key vectors by their position's angles; the two halves of a head form the pairs."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin
