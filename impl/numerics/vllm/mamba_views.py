"""A buffer that vLLM keeps beside a Mamba layer's convolution and that its own reload leaves behind.

The buffer is a view of the weight. On CPUs where vLLM packs that weight the view keeps the storage from before, and a
reload writes to the packed one only: seen on 0.32, where half a NemotronH then runs on old weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import nn


@torch.no_grad()
def follow_convolutions(model: nn.Module) -> int:
    """Bring every such buffer up to date; returns how many were behind."""
    behind = 0
    for module in model.modules():
        view, convolution = getattr(module, "conv_weights", None), getattr(module, "conv1d", None)
        if not isinstance(view, torch.Tensor) or convolution is None:
            continue
        unpacked = getattr(convolution, "_cpu_unpacked_conv_weight", None)
        live = convolution.weight if unpacked is None else unpacked
        if not torch.equal(view, live.view(view.shape)):
            view.copy_(live.view(view.shape))
            behind += 1
    return behind
