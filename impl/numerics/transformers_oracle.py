"""A whole model in fp32 by Hugging Face's own code: what both engines' bodies are measured against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn import functional
from transformers import LlamaConfig, LlamaForCausalLM, NemotronHConfig, NemotronHForCausalLM

from impl.numerics.checkpoint import LlamaShape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


def oracle_logprobs(
    weights: Mapping[str, NDArray[np.float32]],
    shape: LlamaShape | Mapping[str, Any],
    sequences: Sequence[Sequence[int]],
) -> list[NDArray[np.float64]]:
    """Log probabilities of ``tokens[1:]`` under a model computed in fp32 throughout.

    Args:
        weights: a checkpoint without bias, softcap or scale, under Hugging Face names; without
            ``lm_head.weight`` the head is tied.
        shape: the dimensions of a Llama, or the configuration of a NemotronH.
        sequences: token ids; each is run alone.

    Raises:
        RuntimeError: the weights do not fit the shape.
    """
    state = {name: torch.from_numpy(np.asarray(array)) for name, array in weights.items()}
    if isinstance(shape, LlamaShape):
        tied = "lm_head.weight" not in weights
        if tied:
            state["lm_head.weight"] = state["model.embed_tokens.weight"]
        model = LlamaForCausalLM(_llama(shape, tied=tied))
    else:
        model = NemotronHForCausalLM(NemotronHConfig(**shape))
    model = model.float().eval()
    model.load_state_dict(state)
    found = []
    with torch.no_grad():
        for tokens in sequences:
            ids = torch.tensor([list(tokens)])
            logprobs = functional.log_softmax(model(ids).logits[0, :-1].double(), dim=-1)
            found.append(logprobs.gather(-1, ids[0, 1:, None]).squeeze(-1).numpy())
    return found


def _llama(shape: LlamaShape, *, tied: bool) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=shape.vocab,
        hidden_size=shape.hidden,
        intermediate_size=shape.ffn,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        rms_norm_eps=shape.eps,
        rope_theta=shape.rope_theta,
        tie_word_embeddings=tied,
        max_position_embeddings=512,
    )
