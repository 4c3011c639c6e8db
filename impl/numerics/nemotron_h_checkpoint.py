"""Small NemotronH checkpoints whose logits are as large as those of real models, as `impl.numerics.checkpoint`'s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from impl.numerics.checkpoint import LIFT, State

if TYPE_CHECKING:
    from collections.abc import Mapping

SPREAD = 2.5
"""Standard deviation of the logits around `LIFT`."""

TINY_NEMOTRON_H: dict[str, Any] = {
    "architectures": ["NemotronHForCausalLM"],
    "model_type": "nemotron_h",
    "vocab_size": 512,
    "hidden_size": 64,
    "layers_block_type": ["linear_attention", "full_attention", "linear_attention", "mlp"],
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "intermediate_size": 128,
    "mlp_hidden_act": "relu2",
    "ssm_state_size": 16,
    "mamba_num_heads": 8,
    "mamba_head_dim": 16,
    "n_groups": 2,
    "conv_kernel": 4,
    "use_conv_bias": True,
    "chunk_size": 16,
    "layer_norm_epsilon": 1e-5,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
    "dtype": "bfloat16",
}
"""A configuration under Hugging Face names, complete enough for transformers, vLLM and Megatron."""


def make_nemotron_h_checkpoint(config: Mapping[str, Any], seed: int) -> State:
    """Draw a checkpoint: bf16 tensors under Hugging Face names.

    Args:
        config: the model's configuration; layers of linear attention, attention and MLP.
        seed: equal seeds give equal checkpoints.

    Raises:
        KeyError: another type of layer.
    """
    rng = torch.Generator().manual_seed(seed)
    hidden = config["hidden_size"]
    embedding = _normal(rng, config["vocab_size"], hidden, std=1.0)
    embedding[:, 0] = (hidden / 2) ** 0.5  # the constant channel
    state: State = {"model.embeddings.weight": embedding}
    mixers = {"linear_attention": _mamba, "full_attention": _attention, "mlp": _mlp}
    for number, kind in enumerate(config["layers_block_type"]):
        layer = f"model.layers.{number}"
        state[f"{layer}.norm.weight"] = (1 + 0.1 * torch.randn(hidden, generator=rng)).bfloat16()
        mixer, into = mixers[kind](config, rng)
        mixer[into][0] = 0  # nothing disturbs the constant channel
        state |= {f"{layer}.mixer.{name}": tensor for name, tensor in mixer.items()}
    state["model.norm_f.weight"] = torch.ones(hidden).bfloat16()
    head = _normal(rng, config["vocab_size"], hidden, std=SPREAD * hidden**-0.5)
    head[:, 0] = LIFT / (0.4 * hidden**0.5)
    state["lm_head.weight"] = head
    return state


def _normal(rng: torch.Generator, *size: int, std: float) -> torch.Tensor:
    return (torch.randn(*size, generator=rng) * std).bfloat16()


def _mamba(config: Mapping[str, Any], rng: torch.Generator) -> tuple[State, str]:
    """A state-space mixer, with the steps and decays that Mamba 2 starts from; and what writes to the residual."""
    hidden, heads = config["hidden_size"], config["mamba_num_heads"]
    inner = heads * config["mamba_head_dim"]
    channels = inner + 2 * config["n_groups"] * config["ssm_state_size"]
    step = 10 ** (-3 + 2 * torch.rand(heads, generator=rng))
    return {
        "in_proj.weight": _normal(rng, inner + channels + heads, hidden, std=hidden**-0.5),
        "conv1d.weight": _normal(rng, channels, 1, config["conv_kernel"], std=config["conv_kernel"] ** -0.5),
        "conv1d.bias": _normal(rng, channels, std=0.1),
        "A_log": torch.arange(1, heads + 1).log().bfloat16(),
        "D": torch.ones(heads).bfloat16(),
        "dt_bias": torch.expm1(step).log().bfloat16(),  # softplus gives the step back
        "norm.weight": (1 + 0.1 * torch.randn(inner, generator=rng)).bfloat16(),
        "out_proj.weight": _normal(rng, hidden, inner, std=inner**-0.5),
    }, "out_proj.weight"


def _attention(config: Mapping[str, Any], rng: torch.Generator) -> tuple[State, str]:
    """Grouped-query attention without positions; and what writes to the residual."""
    hidden, width = config["hidden_size"], config["num_attention_heads"] * config["head_dim"]
    grouped = config["num_key_value_heads"] * config["head_dim"]
    sizes = {"q_proj": width, "k_proj": grouped, "v_proj": grouped}
    mixer = {f"{name}.weight": _normal(rng, size, hidden, std=hidden**-0.5) for name, size in sizes.items()}
    return {**mixer, "o_proj.weight": _normal(rng, hidden, width, std=width**-0.5)}, "o_proj.weight"


def _mlp(config: Mapping[str, Any], rng: torch.Generator) -> tuple[State, str]:
    """An MLP with squared ReLU; and what writes to the residual."""
    hidden, ffn = config["hidden_size"], config["intermediate_size"]
    return {
        "up_proj.weight": _normal(rng, ffn, hidden, std=hidden**-0.5),
        "down_proj.weight": _normal(rng, hidden, ffn, std=(1.5 * ffn) ** -0.5),
    }, "down_proj.weight"
