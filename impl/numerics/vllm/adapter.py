"""Real vLLM behind the room's protocols, as zero-argument factories for the command line.

Engines run inside this process and start in seconds. On CPU they keep their weights as they were loaded, as on a GPU:
packed ones could not be read. ``checkpoint`` is vLLM's own ``reload_weights``, ``delta`` writes past all loading.
"""

from __future__ import annotations

import importlib.metadata
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from impl.numerics.answers import arrays_of
from impl.numerics.checkpoint import HeadShape
from impl.numerics.vllm.body import LlamaBody, NemotronHBody
from impl.numerics.vllm.checkpoint import write_folder
from impl.numerics.vllm.history import RememberedEngine, digest
from impl.numerics.vllm.in_process import run_in_process
from impl.numerics.vllm.installed import installed_vllm
from impl.numerics.vllm.switch import HeadStrategy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from impl.numerics.torch_adapter import HeadMode
    from impl.numerics.vllm.body import Body
    from impl.numerics.vllm.engine import VllmEngine
    from impl.numerics.vllm.history import Memory

__all__ = ["VllmAdapter", "vllm_cached", "vllm_head", "vllm_native", "vllm_nemotron_h", "vllm_per_call"]

PADDING = 40.0
"""What the head's padding rows hold where a case asks for such: a logit that would win every softmax."""

EVERY_ENGINE = frozenset(
    {"generate", "refit", "direct", "collective", "checkpoint", "partial_refit", "vocab_padding", "faults"}
)


class VllmAdapter:
    """Starts vLLM engines of one architecture and one strategy.

    Attributes:
        name: says both.
        capabilities: what they offer.
        body: the architecture.
        strategy: how the head is computed where fp32 is on.
    """

    def __init__(
        self,
        strategy: HeadStrategy,
        body: Body | None = None,
        *,
        memory: Memory | None = None,
        **options: Any,
    ) -> None:
        """Name the engines.

        Args:
            strategy: of the fp32 head.
            body: None for a small Llama.
            memory: answers already given, by history; None to run everything again. See `RememberedEngine`.
            options: vLLM's own. With a ``tensor_parallel_size`` the ranks are processes of their own, whose packed
                weights cannot be read on CPU.
        """
        self.body, self.strategy = body or LlamaBody(), strategy
        self.name = "-".join(
            ("vllm", strategy, self.body.name, *(f"{name}={value}" for name, value in options.items()))
        )
        offered = set(EVERY_ENGINE) | ({"tied", "logit_scale"} - self.body.foreign)
        if self.body.prefix_caching:
            offered.add("prefix_cache")
        if self.body.writable:
            offered.add("delta")
        if strategy is HeadStrategy.CACHED:
            offered.add("cached_head")
        self.capabilities = frozenset(offered)
        self._options, self._memory = options, memory

    @property
    def version(self) -> str:
        """The versions of vLLM and torch."""
        return f"{installed_vllm().version}, torch {importlib.metadata.version('torch')}"

    @property
    def vocab(self) -> int:
        """Tokens of the vocabulary."""
        return self.body.vocab

    def checkpoint(self, seed: int, head: Any = None) -> dict[str, NDArray[np.float32]]:
        """Weights of a model, as fp32 arrays of bf16 values under Hugging Face names."""
        return arrays_of(self.body.checkpoint(seed, head or HeadShape()))

    def start(self, weights: Mapping[str, NDArray[np.float32]] | None, *, mode: HeadMode, head: Any = None) -> Any:
        """Start an engine; ``weights`` None starts it on dummy weights.

        Raises:
            ValueError: no such mode, or a head that the architecture does not have.
            HeadNotFoundError: the model has no head and the mode asks for fp32.
            QuantizedHeadError: its head is quantized and the mode asks for fp32.
        """
        modes = {"untouched": None, "off": None, "fp32": self.strategy}
        if mode not in modes:
            raise ValueError(f"the head's mode is {mode!r}: it must be one of {', '.join(modes)}")
        shape, plain = head or HeadShape(), HeadShape()
        if odd := [name for name in self.body.foreign if getattr(shape, name) != getattr(plain, name)]:
            raise ValueError(f"vLLM's {self.body.name} has no {', '.join(odd)}: leave them at their defaults")

        if self._memory is None or shape.kind != "plain":
            return self._start(weights, modes[mode], shape)
        # Copies: started later, perhaps after the caller changed his own.
        kept = None if weights is None else {name: np.array(weight) for name, weight in weights.items()}

        def live() -> VllmEngine:
            return self._start(kept, modes[mode], shape)

        return RememberedEngine(live, self._memory, digest(self.name, mode, repr(shape), kept))

    def _start(
        self, weights: Mapping[str, NDArray[np.float32]] | None, strategy: HeadStrategy | None, shape: Any
    ) -> VllmEngine:
        run_in_process()
        from impl.numerics.vllm import engine  # noqa: PLC0415 - vLLM takes seconds to import

        options = dict(self._options)
        if weights is None:
            options["load_format"] = "dummy"
        if shape.kind == "missing":
            options["runner"] = "pooling"
        elif shape.kind == "quantized":
            from impl.numerics.vllm import int8_head  # noqa: PLC0415 - as above

            options["quantization"] = int8_head.NAME
        state = {name: torch.from_numpy(np.asarray(w)).bfloat16() for name, w in (weights or {}).items()}
        # vLLM reads a tied model's embedding alone, and would take the head's name for unknown.
        if shape.tied:
            state.pop("lm_head.weight", None)
        with tempfile.TemporaryDirectory() as place:
            folder = write_folder(Path(place), self.body.config(shape), state)
            found = engine.VllmEngine(
                self.body, folder, strategy, plain=options.get("tensor_parallel_size", 1) == 1, **options
            )
        if shape.vocab_padding and weights is not None:
            found.fill_padding(PADDING)
        return found


def vllm_cached() -> VllmAdapter:
    """A Llama whose fp32 head is a copy, installed by the plugin."""
    return VllmAdapter(HeadStrategy.CACHED, memory={})


def vllm_per_call() -> VllmAdapter:
    """A Llama whose head is upcast at each call, installed by the plugin."""
    return VllmAdapter(HeadStrategy.PER_CALL, memory={})


def vllm_native() -> VllmAdapter:
    """A Llama with vLLM's own ``head_dtype``."""
    return VllmAdapter(HeadStrategy.NATIVE, memory={})


def vllm_nemotron_h() -> VllmAdapter:
    """A NemotronH whose fp32 head is a copy."""
    return VllmAdapter(HeadStrategy.CACHED, NemotronHBody(), memory={})


def vllm_head() -> tuple[VllmAdapter, ...]:
    """Every strategy on a Llama, and the one that caches on a NemotronH."""
    return vllm_cached(), vllm_per_call(), vllm_native(), vllm_nemotron_h()
