"""Megatron-Core behind the room's protocols."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING, Any

from impl.numerics.checkpoint import HeadShape, LlamaShape, make_checkpoint
from impl.numerics.config import MegatronConfig
from impl.numerics.megatron.engine import MegatronEngine, MegatronGroup

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from impl.numerics.torch_adapter import HeadMode

_CONFIGS = {
    "untouched": None,
    "off": MegatronConfig(),
    "fp32": MegatronConfig(fp32_lm_head=True),
    "tf32": MegatronConfig(fp32_lm_head="tf32"),
}


class MegatronAdapter:
    """Starts GPTModels in one tensor-parallel group.

    Attributes:
        name: says the number of ranks.
        capabilities: what Megatron-Core offers; it samples nothing and takes weights from a state dict.
        shape: the models' dimensions.
    """

    capabilities = frozenset(
        {"training", "refit", "direct", "partial_refit", "tied", "vocab_padding", "faults", "tf32"}
    )

    def __init__(self, tensor_parallel: int = 1, shape: LlamaShape | None = None) -> None:
        self.name = f"megatron-tp{tensor_parallel}"
        self.shape = shape or LlamaShape()
        self._group = MegatronGroup(tensor_parallel)

    @property
    def version(self) -> str:
        """Megatron-Core's version."""
        return importlib.metadata.version("megatron-core")

    @property
    def vocab(self) -> int:
        """Tokens of the vocabulary."""
        return self.shape.vocab

    def checkpoint(self, seed: int, head: Any = None) -> dict[str, NDArray[np.float32]]:
        """Weights of a model, as fp32 arrays of bf16 values under Hugging Face names."""
        state = make_checkpoint(self.shape, head or HeadShape(), seed)
        return {name: tensor.float().numpy() for name, tensor in state.items()}

    def start(
        self, weights: Mapping[str, NDArray[np.float32]] | None, *, mode: HeadMode, head: Any = None
    ) -> MegatronEngine:
        """Build a model; ``weights`` None leaves it on its initial ones.

        Raises:
            HeadNotFoundError: the model has no output layer.
            QuantizedHeadError: it is quantized and the mode asks for fp32.
            ValueError: no such mode, or a head that a GPTModel does not have.
        """
        if mode not in _CONFIGS:
            raise ValueError(f"the head's mode is {mode!r}: it must be one of {', '.join(_CONFIGS)}")
        shape, plain = head or HeadShape(), HeadShape()
        foreign = [n for n in ("bias", "softcap", "logit_scale", "drafter") if getattr(shape, n) != getattr(plain, n)]
        if foreign:
            raise ValueError(f"a GPTModel's head has no {', '.join(foreign)}: leave them at their defaults")
        engine = MegatronEngine(self._group, self.shape, shape, _CONFIGS[mode])
        if weights is not None:
            engine.refit(weights, transport="direct")
        return engine

    def close(self) -> None:
        """Stop the group's processes."""
        self._group.close()
