"""Llama as Megatron-Core's GPTModel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch.nn import functional

from impl.numerics.checkpoint import HeadShape, LlamaShape, State, make_checkpoint
from impl.numerics.megatron import weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import torch


@dataclass(frozen=True)
class LlamaBody:
    """A Llama of some dimensions, with the methods of `impl.numerics.megatron.body.Body`."""

    shape: LlamaShape = field(default_factory=LlamaShape)

    name = "llama"
    tensor_parallel = True
    foreign = ("bias", "softcap", "logit_scale", "drafter")

    @property
    def vocab(self) -> int:
        """Tokens of the vocabulary, without padding."""
        return self.shape.vocab

    @property
    def padding(self) -> int:
        """What padded rows of the vocabulary are a multiple of."""
        return self.shape.padding

    def checkpoint(self, seed: int, head: HeadShape) -> State:
        """Draw a checkpoint under Hugging Face names."""
        return make_checkpoint(self.shape, head, seed)

    def options(self) -> dict[str, Any]:
        """The model's part of Megatron's ``TransformerConfig``."""
        return {
            "num_layers": self.shape.layers,
            "hidden_size": self.shape.hidden,
            "num_attention_heads": self.shape.heads,
            "ffn_hidden_size": self.shape.ffn,
            "layernorm_epsilon": self.shape.eps,
            "gated_linear_unit": True,
            "activation_func": functional.silu,
        }

    def build(self, config: Any, rows: int, *, tied: bool) -> Any:
        """A GPTModel with rotary positions."""
        from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec  # noqa: PLC0415 - workers only
        from megatron.core.models.gpt.gpt_model import GPTModel  # noqa: PLC0415 - as above

        return GPTModel(
            config,
            get_gpt_layer_local_spec(normalization="RMSNorm"),
            vocab_size=rows,
            max_sequence_length=512,
            parallel_output=True,
            share_embeddings_and_output_weights=tied,
            position_embedding_type="rope",
            rotary_base=int(self.shape.rope_theta),
        )

    def to_megatron(self, state: State, *, rows: int, size: int) -> list[State]:
        """See `impl.numerics.megatron.weights.to_megatron`."""
        return weights.to_megatron(state, self.shape, rows=rows, size=size)

    def to_hugging_face(self, ranks: Sequence[Mapping[str, torch.Tensor]]) -> State:
        """See `impl.numerics.megatron.weights.to_hugging_face`."""
        return weights.to_hugging_face(ranks, self.shape)
