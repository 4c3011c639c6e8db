"""NemotronH as Megatron-Core's MambaModel, on CPU and without Transformer Engine.

Megatron ships layer specifications for Transformer Engine only, and a mixer made of CUDA kernels. Here the
layers are Megatron's own from its local parallel linears and torch's norm, and the mixer is the one of
transformers, which has a plain torch path; so the mixer cannot be split over tensor-parallel ranks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from impl.numerics.megatron import nemotron_h_weights as weights
from impl.numerics.nemotron_h_checkpoint import TINY_NEMOTRON_H, make_nemotron_h_checkpoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import torch

    from impl.numerics.checkpoint import HeadShape, State


@dataclass(frozen=True)
class NemotronHBody:
    """A NemotronH, with the methods of `impl.numerics.megatron.body.Body`.

    Attributes:
        hf: the model's configuration, as ``config.json`` has it.
    """

    hf: Mapping[str, Any] = field(default_factory=lambda: TINY_NEMOTRON_H)

    name = "nemotron-h"
    tensor_parallel = False
    foreign = ("tied", "bias", "softcap", "logit_scale", "drafter")
    padding = 64

    @property
    def vocab(self) -> int:
        """Tokens of the vocabulary, without padding."""
        return int(self.hf["vocab_size"])

    def checkpoint(self, seed: int, head: HeadShape) -> State:
        """Draw a checkpoint under Hugging Face names; the head is never anything but a matrix of its own."""
        del head
        return make_nemotron_h_checkpoint(self.hf, seed)

    def options(self) -> dict[str, Any]:
        """The model's part of Megatron's ``TransformerConfig``."""
        from megatron.core.activations import squared_relu  # noqa: PLC0415 - workers only

        return {
            "num_layers": len(self.hf["layers_block_type"]),
            "hidden_size": self.hf["hidden_size"],
            "num_attention_heads": self.hf["num_attention_heads"],
            "num_query_groups": self.hf["num_key_value_heads"],
            "kv_channels": self.hf["head_dim"],
            "ffn_hidden_size": self.hf["intermediate_size"],
            "layernorm_epsilon": self.hf["layer_norm_epsilon"],
            "activation_func": squared_relu,
        }

    def build(self, config: Any, rows: int, *, tied: bool) -> Any:
        """A MambaModel without positions."""
        del tied
        from impl.numerics.megatron.nemotron_h_layers import build  # noqa: PLC0415 - workers only

        return build(self.hf, config, rows, weights.pattern_of(self.hf))

    def to_megatron(self, state: State, *, rows: int, size: int) -> list[State]:
        """See `impl.numerics.megatron.nemotron_h_weights.to_megatron`; ``size`` is 1."""
        del size
        return [weights.to_megatron(state, self.hf, rows=rows)]

    def to_hugging_face(self, ranks: Sequence[Mapping[str, torch.Tensor]]) -> State:
        """See `impl.numerics.megatron.nemotron_h_weights.to_hugging_face`."""
        return weights.to_hugging_face(ranks[0], self.hf)
