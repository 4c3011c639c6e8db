"""Hugging Face Llama weights as one tensor-parallel rank of Megatron-Core holds them, and back.

Megatron keeps query, key and value of a head together, gate and up in one matrix per rank, and splits
column-parallel matrices by rows and row-parallel ones by columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from impl.numerics.checkpoint import LlamaShape, State

_WHOLE = {
    "input_layernorm.weight": "input_layernorm.weight",
    "post_attention_layernorm.weight": "pre_mlp_layernorm.weight",
}
_BY_COLUMNS = {
    "self_attn.o_proj.weight": "self_attention.linear_proj.weight",
    "mlp.down_proj.weight": "mlp.linear_fc2.weight",
}
_BY_ROWS = {
    "model.embed_tokens.weight": "embedding.word_embeddings.weight",
    "lm_head.weight": "output_layer.weight",
}
_QKV, _FC1, _NORM = "self_attention.linear_qkv.weight", "mlp.linear_fc1.weight", "decoder.final_layernorm.weight"


def to_megatron(state: State, shape: LlamaShape, *, rows: int, size: int) -> list[State]:
    """Convert a whole checkpoint.

    Args:
        state: Hugging Face names; all of a layer's matrices that Megatron keeps together must be there.
        shape: dimensions of the model.
        rows: vocabulary rows with padding; the padding rows are filled with 40.0.
        size: number of tensor-parallel ranks.

    Returns:
        One state per rank, under Megatron's names.
    """
    ranks: list[State] = [{} for _ in range(size)]
    for name, parts in _parts(state, shape, rows, size):
        for rank, part in zip(ranks, parts, strict=True):
            rank[name] = part.contiguous()
    return ranks


def _parts(state: State, shape: LlamaShape, rows: int, size: int) -> Iterator[tuple[str, Sequence[torch.Tensor]]]:
    """Every Megatron name with its part for each rank."""
    for hf, mine in _BY_ROWS.items():
        if hf in state:
            padding = torch.full((rows - shape.vocab, shape.hidden), 40.0, dtype=torch.bfloat16)
            yield mine, torch.cat((state[hf], padding)).chunk(size)
    if "model.norm.weight" in state:
        yield _NORM, [state["model.norm.weight"]] * size
    for i in range(shape.layers):
        of_layer = {name.removeprefix(f"model.layers.{i}."): tensor for name, tensor in state.items()}
        for name, parts in _layer_parts(of_layer, shape, size):
            yield f"decoder.layers.{i}.{name}", parts


def _layer_parts(layer: State, shape: LlamaShape, size: int) -> Iterator[tuple[str, Sequence[torch.Tensor]]]:
    """The same within one layer."""
    for theirs, ours in _WHOLE.items():
        if theirs in layer:
            yield ours, [layer[theirs]] * size
    for theirs, ours in _BY_COLUMNS.items():
        if theirs in layer:
            yield ours, layer[theirs].chunk(size, dim=1)
    if "self_attn.q_proj.weight" in layer:
        per_head = (shape.heads, shape.head_dim, shape.hidden)
        qkv = [layer[f"self_attn.{n}_proj.weight"].view(per_head) for n in "qkv"]
        yield _QKV, torch.cat(qkv, dim=1).reshape(-1, shape.hidden).chunk(size)
    if "mlp.gate_proj.weight" in layer:
        gate, up = (layer[f"mlp.{n}_proj.weight"].chunk(size) for n in ("gate", "up"))
        yield _FC1, [torch.cat(pair) for pair in zip(gate, up, strict=True)]


def to_hugging_face(ranks: Sequence[Mapping[str, torch.Tensor]], shape: LlamaShape) -> State:
    """Convert the ranks' states (or gradients) back; the inverse of `to_megatron`, without padding rows."""
    first, state = ranks[0], {}
    for hf, mine in _BY_ROWS.items():
        if mine in first:
            state[hf] = torch.cat([rank[mine] for rank in ranks])[: shape.vocab]
    state["model.norm.weight"] = first[_NORM]
    for i in range(shape.layers):
        hf, mine = f"model.layers.{i}.", f"decoder.layers.{i}."
        for theirs, ours in _WHOLE.items():
            state[hf + theirs] = first[mine + ours]
        for theirs, ours in _BY_COLUMNS.items():
            state[hf + theirs] = torch.cat([rank[mine + ours] for rank in ranks], dim=1)
        qkv = torch.cat([rank[mine + _QKV] for rank in ranks]).view(shape.heads, 3, shape.head_dim, shape.hidden)
        for n, name in enumerate("qkv"):
            state[f"{hf}self_attn.{name}_proj.weight"] = qkv[:, n].reshape(-1, shape.hidden)
        halves = [rank[mine + _FC1].chunk(2) for rank in ranks]
        for n, name in enumerate(("gate", "up")):
            state[f"{hf}mlp.{name}_proj.weight"] = torch.cat([half[n] for half in halves])
    return state
