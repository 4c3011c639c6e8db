"""The tiny Llama as a GGUF file, as llama.cpp reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import gguf
import numpy as np
from safetensors.numpy import load_file

if TYPE_CHECKING:
    from pathlib import Path

_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_LAYER = "model.layers.0."


def write_gguf(model: Path, file: Path) -> None:
    """Write the model in ``model``, a folder as transformers reads it, to ``file``."""
    config, tokenizer, tokens = (
        json.loads((model / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("config", "tokenizer", "tokenizer_config")
    )
    heads = config["num_attention_heads"]
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_dimension_count(config["hidden_size"] // heads)
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    _add_tokenizer(writer, config, tokenizer)
    writer.add_chat_template(tokens["chat_template"])
    for name, weight in load_file(model / "model.safetensors").items():
        stem = name.removesuffix(".weight")
        short = _NAMES[stem.removeprefix(_LAYER)]
        place = "blk.0." if stem.startswith(_LAYER) else ""
        rows = _interleaved(weight, heads) if short in {"attn_q", "attn_k"} else weight
        writer.add_tensor(f"{place}{short}.weight", np.ascontiguousarray(rows))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_tokenizer(writer: Any, config: dict[str, Any], tokenizer: dict[str, Any]) -> None:
    special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    vocabulary = sorted({**tokenizer["model"]["vocab"], **special}.items(), key=lambda entry: entry[1])
    kinds = [gguf.TokenType.CONTROL if token in special else gguf.TokenType.NORMAL for token, _ in vocabulary]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([token for token, _ in vocabulary])
    writer.add_token_types(kinds)
    writer.add_token_merges(tokenizer["model"]["merges"])
    writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])
    writer.add_pad_token_id(config["pad_token_id"])
    writer.add_add_bos_token(value=False)


def _interleaved(weight: Any, heads: int) -> Any:
    """The rows in llama.cpp's order: the two halves that rotary embeddings pair stand next to each other."""
    size = weight.shape[0] // heads // 2
    return weight.reshape(heads, 2, size, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)
