"""Checkpoint folders that vLLM starts from: a configuration and weights, and no tokenizer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from impl.numerics.checkpoint import HeadShape, LlamaShape, State

MAX_MODEL_LEN = 256


def llama_config(shape: LlamaShape, head: HeadShape) -> dict[str, Any]:
    """Hugging Face's configuration of a Llama with a head of this shape.

    Raises:
        ValueError: the head has something that vLLM's Llama does not have.
    """
    if head.bias or head.softcap:
        raise ValueError("vLLM's Llama has a head without bias and without soft cap: leave both at their defaults")
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "torch_dtype": "bfloat16",
        "vocab_size": shape.vocab,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.ffn,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads,
        "head_dim": shape.head_dim,
        "hidden_act": "silu",
        "rms_norm_eps": shape.eps,
        "rope_theta": shape.rope_theta,
        "max_position_embeddings": MAX_MODEL_LEN,
        "tie_word_embeddings": head.tied,
        "logit_scale": head.logit_scale,
        "bos_token_id": None,
        "eos_token_id": None,
    }


def write_folder(folder: Path, config: Mapping[str, Any], state: State) -> Path:
    """Write ``config.json`` and ``model.safetensors``.

    Args:
        folder: made if it is not there.
        config: Hugging Face's configuration.
        state: weights under Hugging Face names; empty for an engine that starts on dummy weights.

    Returns:
        The folder.
    """
    from safetensors.torch import save_file  # noqa: PLC0415 - comes with vLLM, and the rest of this is used without

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(dict(config), indent=1))
    if state:
        save_file({name: t.contiguous() for name, t in state.items()}, folder / "model.safetensors", {"format": "pt"})
    return folder
