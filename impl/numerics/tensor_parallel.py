"""The output layer's communication: what goes in on every tensor-parallel rank, what comes out.

Megatron-Core is imported only where there is more than one rank to talk to.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import torch

_MAPPINGS = "megatron.core.tensor_parallel.mappings"


def tensor_parallel_size(layer: Any) -> int:
    """Over how many ranks a column-parallel layer's vocabulary is split."""
    return int(layer.output_size) // int(layer.output_size_per_partition)


def spread_input(layer: Any, x: torch.Tensor) -> torch.Tensor:
    """Bring the full hidden states to every rank; the backward sums the ranks' gradients.

    Args:
        layer: the column-parallel layer.
        x: ``[sequence, batch, hidden]``; with sequence parallel ``[sequence / tp, batch, hidden]``.

    Returns:
        ``[sequence, batch, hidden]``.
    """
    if tensor_parallel_size(layer) == 1:
        return x
    mappings = import_module(_MAPPINGS)
    # Read at each call: Megatron's inference turns sequence_parallel off around the head.
    if layer.sequence_parallel:
        return cast("torch.Tensor", mappings.gather_from_sequence_parallel_region(x, group=layer.tp_group))
    return cast("torch.Tensor", mappings.copy_to_tensor_model_parallel_region(x, group=layer.tp_group))


def gather_logits(layer: Any, logits: torch.Tensor) -> torch.Tensor:
    """Concatenate the ranks' logits ``[..., vocab / tp]`` to ``[..., vocab]`` on every rank."""
    if tensor_parallel_size(layer) == 1:
        return logits
    mappings = import_module(_MAPPINGS)
    return cast("torch.Tensor", mappings.gather_from_tensor_model_parallel_region(logits, group=layer.tp_group))
