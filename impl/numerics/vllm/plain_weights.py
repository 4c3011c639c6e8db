"""A CPU engine that keeps its weights as they were loaded, as one on a GPU does.

On CPUs with the instructions for it vLLM packs every linear layer's weight for oneDNN and lets the original go: it can
then not be read, and loading into it in place meets an emptied parameter.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from torch.nn import functional
from vllm.model_executor.layers import utils as layers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import nn

MATRIX = 2
_loading_plain = ContextVar("loading_plain", default=False)
_pack = layers.dispatch_cpu_unquantized_gemm


def _pack_unless_plain(layer: nn.Module, remove_weight: bool) -> None:  # noqa: FBT001 - vLLM's own signature
    """Stands in for vLLM's packing; a layer that was loaded plain is so at every later reload too."""
    if _loading_plain.get():
        layer.__dict__["rlc_plain"] = True
    # A convolution's kernel expects its weight packed wherever this CPU can.
    if layer.__dict__.get("rlc_plain") and layer.weight.ndim == MATRIX:
        layer.__dict__["cpu_linear"] = functional.linear
    else:
        _pack(layer, remove_weight)


@contextmanager
def plain_weights() -> Iterator[None]:
    """Load models inside this block, in this process, with their linear layers' weights left alone."""
    layers.dispatch_cpu_unquantized_gemm = _pack_unless_plain
    token = _loading_plain.set(True)
    try:
        yield
    finally:
        _loading_plain.reset(token)
