"""The torch engine behind the room's protocols. Needs torch and numpy and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import torch

from impl.numerics.answers import arrays_of
from impl.numerics.checkpoint import HeadShape, LlamaShape, make_checkpoint
from impl.numerics.torch_engine import TorchEngine

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from impl.numerics.llama import HeadStrategy

HeadMode = Literal["untouched", "off", "fp32", "tf32"]

EVERY_ENGINE = frozenset(
    {"refit", "direct", "collective", "checkpoint", "delta", "partial_refit", "generate", "tied", "bias", "softcap",
     "logit_scale", "vocab_padding", "prefix_cache", "sleep", "drafter", "faults", "tf32"}
)  # fmt: skip


@dataclass(frozen=True)
class TorchAdapter:
    """Starts torch engines of one kind.

    Attributes:
        name: unique among the adapters of a run.
        strategy: how the head is computed where fp32 is on.
        fused: which attention kernel; see `impl.numerics.llama.Llama`.
        device: torch's name of the device.
    """

    name: str
    strategy: HeadStrategy = "cached"
    capabilities: frozenset[str] = EVERY_ENGINE
    shape: LlamaShape = field(default_factory=LlamaShape)
    fused: bool = True
    device: str = "cpu"

    @property
    def version(self) -> str:
        """Torch's version."""
        return str(torch.__version__)

    @property
    def vocab(self) -> int:
        """Tokens of the vocabulary."""
        return self.shape.vocab

    def checkpoint(self, seed: int, head: Any = None) -> dict[str, NDArray[np.float32]]:
        """Weights of a model, as fp32 arrays of bf16 values under Hugging Face names."""
        return arrays_of(make_checkpoint(self.shape, head or HeadShape(), seed))

    def start(
        self, weights: Mapping[str, NDArray[np.float32]] | None, *, mode: HeadMode, head: Any = None
    ) -> TorchEngine:
        """Start an engine; ``weights`` None starts it on dummy weights.

        Raises:
            HeadNotFoundError: the model has no head.
            QuantizedHeadError: its head is quantized and the mode asks for fp32.
            ValueError: no such mode.
        """
        strategies: dict[str, HeadStrategy] = {
            "untouched": "model",
            "off": "model",
            "fp32": self.strategy,
            "tf32": "tf32",
        }
        if mode not in strategies:
            raise ValueError(f"the head's mode is {mode!r}: it must be one of {', '.join(strategies)}")
        shape = head or HeadShape()
        return TorchEngine(self.shape, shape, strategies[mode], weights, fused=self.fused, device=self.device)


def on_one_thread() -> None:
    """Let torch use one thread: for models this small more only cost time, and bits may not depend on their number."""
    torch.set_num_threads(1)


def torch_rollout() -> TorchAdapter:
    """The rollout side: a cached fp32 head under refit."""
    on_one_thread()
    return TorchAdapter("torch-cached", capabilities=EVERY_ENGINE | {"cached_head"})


def torch_trainer() -> TorchAdapter:
    """The trainer side: upcast per call, with gradients."""
    on_one_thread()
    return TorchAdapter("torch-trainer", strategy="per_call", fused=False, capabilities=EVERY_ENGINE | {"training"})
