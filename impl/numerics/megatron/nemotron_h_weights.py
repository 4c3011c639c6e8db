"""Hugging Face NemotronH weights as Megatron-Core's hybrid model holds them, and back; one rank only.

Both name a layer's matrices alike but for attention, whose query, key and value Megatron keeps together,
group by group, and for the norm, which is named for what follows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from impl.numerics.checkpoint import State

LAYER_LETTERS = {"linear_attention": "M", "full_attention": "*", "mlp": "-"}
"""Layer types of a configuration, and their letters in Megatron's pattern; experts are not built here."""

_OUTER = {
    "model.embeddings.weight": "embedding.word_embeddings.weight",
    "model.norm_f.weight": "decoder.final_norm.weight",
    "lm_head.weight": "output_layer.weight",
}
_PADDED = ("model.embeddings.weight", "lm_head.weight")
_MAMBA = ("A_log", "D", "dt_bias", "conv1d.weight", "conv1d.bias", "in_proj.weight", "norm.weight", "out_proj.weight")
_INNER = {
    "M": {"norm.weight": "norm.weight", **{f"mixer.{name}": f"mixer.inner.{name}" for name in _MAMBA}},
    "*": {"norm.weight": "input_layernorm.weight", "mixer.o_proj.weight": "self_attention.linear_proj.weight"},
    "-": {
        "norm.weight": "pre_mlp_layernorm.weight",
        "mixer.up_proj.weight": "mlp.linear_fc1.weight",
        "mixer.down_proj.weight": "mlp.linear_fc2.weight",
    },
}
_QKV = "self_attention.linear_qkv.weight"


def pattern_of(config: Mapping[str, Any]) -> str:
    """Megatron's pattern of layers, such as ``M*M-``, from a NemotronH configuration.

    Raises:
        ValueError: a layer type that is not built here.
    """
    types = config["layers_block_type"]
    unknown = sorted(set(types) - set(LAYER_LETTERS))
    if unknown:
        raise ValueError(f"layers_block_type has {', '.join(unknown)}: only {', '.join(LAYER_LETTERS)} are built here")
    return "".join(LAYER_LETTERS[kind] for kind in types)


def to_megatron(state: State, config: Mapping[str, Any], *, rows: int) -> State:
    """Convert a checkpoint or a part of one.

    Args:
        state: Hugging Face names; query, key and value of a layer come together.
        config: the model's configuration, under Hugging Face names.
        rows: vocabulary rows with padding; the padding rows are filled with 40.0.
    """
    converted: State = {}
    for theirs, ours in _renamed(config):
        if theirs in state:
            padding = rows - config["vocab_size"] if theirs in _PADDED else 0
            filler = torch.full((padding, config["hidden_size"]), 40.0, dtype=state[theirs].dtype)
            converted[ours] = torch.cat((state[theirs], filler)) if padding else state[theirs]
    for theirs, ours in _attention(config):
        if f"{theirs}.q_proj.weight" in state:
            split = (config["num_key_value_heads"], -1, config["hidden_size"])
            qkv = [state[f"{theirs}.{name}_proj.weight"].view(split) for name in "qkv"]
            converted[ours] = torch.cat(qkv, dim=1).reshape(-1, config["hidden_size"])
    return converted


def to_hugging_face(state: Mapping[str, torch.Tensor], config: Mapping[str, Any]) -> State:
    """Convert a state (or gradients) back; the inverse of `to_megatron`, without padding rows."""
    converted: State = {}
    for theirs, ours in _renamed(config):
        converted[theirs] = state[ours][: config["vocab_size"]] if theirs in _PADDED else state[ours]
    queries = config["num_attention_heads"] // config["num_key_value_heads"]
    sizes = [queries * config["head_dim"], config["head_dim"], config["head_dim"]]
    for theirs, ours in _attention(config):
        grouped = state[ours].view(config["num_key_value_heads"], sum(sizes), config["hidden_size"])
        for name, part in zip("qkv", torch.split(grouped, sizes, dim=1), strict=True):
            converted[f"{theirs}.{name}_proj.weight"] = part.reshape(-1, config["hidden_size"])
    return converted


def _renamed(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Hugging Face's name and Megatron's of every tensor that both hold as it is."""
    yield from _OUTER.items()
    for number, letter in enumerate(pattern_of(config)):
        for theirs, ours in _INNER[letter].items():
            yield f"model.layers.{number}.{theirs}", f"decoder.layers.{number}.{ours}"


def _attention(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Where a layer's query, key and value are, and the name of Megatron's one matrix."""
    for number, letter in enumerate(pattern_of(config)):
        if letter == "*":
            yield f"model.layers.{number}.mixer", f"decoder.layers.{number}.{_QKV}"
