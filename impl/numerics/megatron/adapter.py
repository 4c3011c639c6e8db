"""Megatron-Core behind the room's protocols."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING, Any

from impl.numerics.answers import arrays_of
from impl.numerics.checkpoint import HeadShape
from impl.numerics.config import MegatronConfig
from impl.numerics.megatron.engine import MegatronEngine, MegatronGroup
from impl.numerics.megatron.llama import LlamaBody

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from impl.numerics.megatron.body import Body
    from impl.numerics.torch_adapter import HeadMode

_CONFIGS = {
    "untouched": None,
    "off": MegatronConfig(),
    "fp32": MegatronConfig(fp32_lm_head=True),
    "tf32": MegatronConfig(fp32_lm_head="tf32"),
}


class MegatronAdapter:
    """Starts models in one tensor-parallel group.

    Attributes:
        name: says the architecture and the number of ranks.
        capabilities: what Megatron-Core offers; it samples nothing and takes weights from a state dict.
        body: the models' architecture and dimensions.
    """

    def __init__(self, tensor_parallel: int = 1, body: Body | None = None, dtype: str = "bfloat16") -> None:
        """Name a group; its processes start with the first model.

        Args:
            tensor_parallel: number of ranks.
            body: None for a small Llama.
            dtype: of the parameters, ``bfloat16`` or ``float32``.

        Raises:
            ValueError: the architecture's layers cannot be split.
        """
        self.body = body or LlamaBody()
        if tensor_parallel > 1 and not self.body.tensor_parallel:
            raise ValueError(f"{type(self.body).__name__} has layers that cannot be split: use 1 rank")
        self.name = f"megatron-{self.body.name}-tp{tensor_parallel}"
        self.dtype = dtype
        capabilities = {"training", "refit", "direct", "partial_refit", "tied", "vocab_padding", "faults", "tf32"}
        self.capabilities = frozenset(capabilities - set(self.body.foreign))
        self._group = MegatronGroup(tensor_parallel)

    @property
    def version(self) -> str:
        """Megatron-Core's version."""
        return importlib.metadata.version("megatron-core")

    @property
    def vocab(self) -> int:
        """Tokens of the vocabulary."""
        return self.body.vocab

    def checkpoint(self, seed: int, head: Any = None) -> dict[str, NDArray[np.float32]]:
        """Weights of a model, as fp32 arrays of bf16 values under Hugging Face names."""
        return arrays_of(self.body.checkpoint(seed, head or HeadShape()))

    def start(
        self, weights: Mapping[str, NDArray[np.float32]] | None, *, mode: HeadMode, head: Any = None
    ) -> MegatronEngine:
        """Build a model; ``weights`` None leaves it on its initial ones.

        Raises:
            HeadNotFoundError: the model has no output layer.
            QuantizedHeadError: it is quantized and the mode asks for fp32.
            ValueError: no such mode, or a head that the architecture does not have.
        """
        if mode not in _CONFIGS:
            raise ValueError(f"the head's mode is {mode!r}: it must be one of {', '.join(_CONFIGS)}")
        shape, plain = head or HeadShape(), HeadShape()
        foreign = [name for name in self.body.foreign if getattr(shape, name) != getattr(plain, name)]
        if foreign:
            raise ValueError(
                f"the head of a {self.body.name} has no {', '.join(foreign)}: leave them at their defaults"
            )
        engine = MegatronEngine(self._group, self.body, shape, _CONFIGS[mode], self.dtype)
        if weights is not None:
            engine.refit(weights, transport="direct")
        return engine

    def close(self) -> None:
        """Stop the group's processes."""
        self._group.close()
