"""What a model of one architecture is to vLLM: its configuration, and its weights under Hugging Face names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import torch

from impl.numerics.checkpoint import HeadShape, LlamaShape, State, make_checkpoint
from impl.numerics.nemotron_h_checkpoint import TINY_NEMOTRON_H, make_nemotron_h_checkpoint
from impl.numerics.vllm.checkpoint import llama_config

if TYPE_CHECKING:
    from collections.abc import Mapping

SMALL_LLAMA = LlamaShape(hidden=128, heads=4, ffn=256, vocab=500)
"""Heads of 32 channels, the fewest that vLLM's CPU attention takes; a vocabulary that vLLM pads."""

SMALL_NEMOTRON_H: dict[str, Any] = {
    **TINY_NEMOTRON_H,
    "hidden_size": 128,
    "head_dim": 32,
    "vocab_size": 500,
    "bos_token_id": None,
    "eos_token_id": None,
}
"""The same for NemotronH."""


_JOINED = {("q_proj", "k_proj", "v_proj"): "qkv_proj", ("gate_proj", "up_proj"): "gate_up_proj"}


class Body(Protocol):
    """An architecture with its dimensions."""

    @property
    def name(self) -> str: ...  # noqa: D102 - of the architecture
    @property
    def foreign(self) -> frozenset[str]: ...  # noqa: D102 - names in `HeadShape` that its head does not have
    @property
    def vocab(self) -> int:
        """Tokens of the vocabulary, without padding."""

    @property
    def writable(self) -> bool:
        """Whether its parameters can be written past loading."""

    @property
    def prefix_caching(self) -> bool:
        """Whether vLLM reuses prefixes of such a model on this platform."""

    def config(self, head: HeadShape) -> dict[str, Any]:
        """Hugging Face's configuration."""

    def checkpoint(self, seed: int, head: HeadShape) -> State:
        """Draw a checkpoint under Hugging Face names."""

    def names(self, *, tied: bool) -> set[str]:
        """What a complete checkpoint holds."""

    def to_vllm(self, state: State) -> State:
        """A part of a checkpoint in the names and layout of vLLM's parameters on one rank.

        Raises:
            KeyError: a part of what vLLM keeps in one matrix.
            ValueError: this architecture's are changed while they are loaded.
        """

    def to_hugging_face(self, state: Mapping[str, torch.Tensor]) -> State:
        """One rank's parameters, as vLLM holds them, under Hugging Face names, without padding rows."""


@dataclass(frozen=True)
class LlamaBody:
    """A Llama."""

    shape: LlamaShape = field(default=SMALL_LLAMA)

    name = "llama"
    foreign = frozenset({"bias", "softcap", "drafter"})
    prefix_caching = True
    writable = True

    @property
    def vocab(self) -> int:
        """Tokens of the vocabulary, without padding."""
        return self.shape.vocab

    def config(self, head: HeadShape) -> dict[str, Any]:
        """Hugging Face's configuration."""
        return llama_config(self.shape, head)

    def checkpoint(self, seed: int, head: HeadShape) -> State:
        """Draw a checkpoint."""
        return make_checkpoint(self.shape, head, seed)

    def names(self, *, tied: bool) -> set[str]:
        """What a complete checkpoint holds."""
        return set(self.checkpoint(0, HeadShape(tied=tied)))

    def to_vllm(self, state: State) -> State:
        """Join what vLLM keeps in one matrix.

        Raises:
            KeyError: a part of it is missing.
        """
        found: State = {}
        for name, tensor in state.items():
            for parts, joined in _JOINED.items():
                if any(part in name for part in parts):
                    first = next(part for part in parts if part in name)
                    pieces = [state[name.replace(first, part)] for part in parts]
                    found[name.replace(first, joined)] = torch.cat(pieces)
                    break
            else:
                found[name] = tensor
        return found

    def to_hugging_face(self, state: Mapping[str, torch.Tensor]) -> State:
        """Split what vLLM keeps in one matrix, and cut the padding rows."""
        found: State = {}
        for name, tensor in _of_the_checkpoint(state).items():
            if name.endswith("qkv_proj.weight"):
                parts = zip(("q_proj", "k_proj", "v_proj"), tensor.chunk(3), strict=True)
                found |= {name.replace("qkv_proj", part): piece for part, piece in parts}
            elif name.endswith("gate_up_proj.weight"):
                parts = zip(("gate_proj", "up_proj"), tensor.chunk(2), strict=True)
                found |= {name.replace("gate_up_proj", part): piece for part, piece in parts}
            else:
                found[name] = _without_padding(name, tensor, self.vocab)
        return found


@dataclass(frozen=True)
class NemotronHBody:
    """A hybrid of Mamba 2, attention and MLP layers."""

    shape: dict[str, Any] = field(default_factory=lambda: dict(SMALL_NEMOTRON_H))

    name = "nemotron_h"
    foreign = frozenset({"tied", "bias", "softcap", "logit_scale", "drafter"})
    prefix_caching = False
    writable = False

    @property
    def vocab(self) -> int:
        """Tokens of the vocabulary, without padding."""
        vocab: int = self.shape["vocab_size"]
        return vocab

    def config(self, head: HeadShape) -> dict[str, Any]:
        """Hugging Face's configuration."""
        del head
        return dict(self.shape)

    def checkpoint(self, seed: int, head: HeadShape) -> State:
        """Draw a checkpoint."""
        del head
        return make_nemotron_h_checkpoint(self.shape, seed)

    def names(self, *, tied: bool) -> set[str]:
        """What a complete checkpoint holds."""
        del tied
        return set(self.checkpoint(0, HeadShape()))

    def to_vllm(self, state: State) -> State:
        """Not offered.

        Raises:
            ValueError: always.
        """
        raise ValueError(f"vLLM computes on {len(state)} weights of NemotronH while it loads them: load, do not write")

    def to_hugging_face(self, state: Mapping[str, torch.Tensor]) -> State:
        """Split, rename, and undo what vLLM does to the decay rates while it loads them."""
        grouped = self.shape["num_key_value_heads"] * self.shape["head_dim"]
        found: State = {}
        for name, tensor in _of_the_checkpoint(state).items():
            if name.endswith("qkv_proj.weight"):
                pieces = tensor.split_with_sizes([len(tensor) - 2 * grouped, grouped, grouped])
                parts = zip(("q_proj", "k_proj", "v_proj"), pieces, strict=True)
                found |= {name.replace("qkv_proj", part): piece for part, piece in parts}
            elif name.endswith(".A"):
                found[f"{name}_log"] = (-tensor).log().bfloat16()
            else:
                renamed = re.sub(r"^model\.embed_tokens\.", "model.embeddings.", name)
                found[renamed] = _without_padding(name, tensor, self.vocab)
        return found


def _of_the_checkpoint(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Leave out the attention layers' own scales, which no checkpoint of these models has."""
    return {name: tensor for name, tensor in state.items() if not re.search(r"\.attn\._\w+_scale$", name)}


def _without_padding(name: str, tensor: torch.Tensor, vocab: int) -> torch.Tensor:
    return tensor[:vocab] if "embed" in name or name.startswith("lm_head") else tensor
