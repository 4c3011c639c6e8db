"""Small Llama checkpoints whose logits are as large as those of real models.

Rounding to bf16 costs what it costs in production only where the logits stand where production's do: at
15 to 30 the bf16 step is 0.125. So one channel carries a constant, as the massive activations of trained
models do, and lifts every logit there; the softmax does not see it, the rounding does.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

State = dict[str, torch.Tensor]
"""Weights under their Hugging Face names, bf16."""

LIFT = 24.0
"""What the constant channel adds to every logit."""


@dataclass(frozen=True)
class LlamaShape:
    """Dimensions of a model; the vocabulary is the tokenizer's, without padding.

    ``spread`` is the standard deviation of the logits around `LIFT`.
    """

    layers: int = 2
    hidden: int = 64
    heads: int = 4
    ffn: int = 128
    vocab: int = 512
    padding: int = 64
    rope_theta: float = 10000.0
    eps: float = 1e-5
    spread: float = 2.5

    @property
    def head_dim(self) -> int:
        """Channels of one attention head."""
        return self.hidden // self.heads


@dataclass(frozen=True)
class HeadShape:
    """What is between the hidden states and the logits of one model.

    Attributes:
        tied: the head's weight is the embedding's.
        bias: the head adds a bias.
        softcap: logits are ``softcap * tanh(logits / softcap)``; 0 for none.
        logit_scale: logits are multiplied by it, before the softcap.
        vocab_padding: the head's rows are padded to a multiple, and the padding rows hold large numbers.
        kind: ``plain``, or a fault that starting must refuse: ``missing`` or ``quantized``.
        drafter: a speculative drafter with its own head is part of the checkpoint.
    """

    tied: bool = False
    bias: bool = False
    softcap: float = 0.0
    logit_scale: float = 1.0
    vocab_padding: bool = False
    kind: str = "plain"
    drafter: bool = False


def make_checkpoint(shape: LlamaShape, head: HeadShape, seed: int) -> State:
    """Draw a checkpoint: bf16 tensors under Hugging Face names (``drafter.`` before a drafter's).

    Args:
        shape: the model's dimensions.
        head: a tied head has no weights of its own; padding rows are the engine's, not the checkpoint's.
        seed: equal seeds give equal checkpoints.
    """
    rng = torch.Generator().manual_seed(seed)

    def normal(*size: int, std: float) -> torch.Tensor:
        return (torch.randn(*size, generator=rng) * std).bfloat16()

    h, f = shape.hidden, shape.ffn
    embedding = normal(shape.vocab, h, std=1.0)
    embedding[:, 0] = (h / 2) ** 0.5  # the constant channel
    state: State = {"model.embed_tokens.weight": embedding}
    for i in range(shape.layers):
        layer = f"model.layers.{i}"
        state[f"{layer}.input_layernorm.weight"] = (1 + 0.1 * torch.randn(h, generator=rng)).bfloat16()
        state[f"{layer}.post_attention_layernorm.weight"] = (1 + 0.1 * torch.randn(h, generator=rng)).bfloat16()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            state[f"{layer}.self_attn.{name}.weight"] = normal(h, h, std=h**-0.5)
        state[f"{layer}.self_attn.o_proj.weight"][0] = 0  # nothing disturbs the constant channel
        state[f"{layer}.mlp.gate_proj.weight"] = normal(f, h, std=h**-0.5)
        state[f"{layer}.mlp.up_proj.weight"] = normal(f, h, std=h**-0.5)
        state[f"{layer}.mlp.down_proj.weight"] = normal(h, f, std=f**-0.5)
        state[f"{layer}.mlp.down_proj.weight"][0] = 0
    state["model.norm.weight"] = torch.ones(h).bfloat16()
    if head.tied:
        # The embedding is the head: its rows' scale is the logits' spread, the norm lifts the constant channel.
        state["model.norm.weight"].mul_(shape.spread / h**0.5)
        state["model.norm.weight"][0] = LIFT / (0.4 * h)
    else:
        state["lm_head.weight"] = _lifted(normal(shape.vocab, h, std=shape.spread * h**-0.5), h)
    if head.bias:
        state["lm_head.bias"] = normal(shape.vocab, std=1.0)
    if head.drafter:
        state["drafter.fc.weight"] = normal(h, h, std=h**-0.5)
        state["drafter.norm.weight"] = torch.ones(h).bfloat16()
        state["drafter.lm_head.weight"] = normal(shape.vocab, h, std=shape.spread * h**-0.5)
    return state


def _lifted(weight: torch.Tensor, hidden: int) -> torch.Tensor:
    """Let the constant channel, about ``0.4 sqrt(hidden)`` after the norm, add `LIFT` to every logit."""
    weight[:, 0] = LIFT / (0.4 * hidden**0.5)
    return weight
