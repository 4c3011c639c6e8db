"""What a patched ``compute_logits`` calls: the head that it hands to the logits processor."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from impl.numerics.vllm import plugin
from impl.numerics.vllm.head_copies import copy_of
from impl.numerics.vllm.switch import HeadStrategy, read_switch

if TYPE_CHECKING:
    import torch
    from torch import nn


class PatchWithoutPluginError(RuntimeError):
    """A patched source runs in a process where nothing would mark its copy when weights are written."""


class Fp32Head:
    """A head as the logits processor sees it, whose product comes from the fp32 copy."""

    def __init__(self, lm_head: nn.Module) -> None:
        self.lm_head = lm_head

    def __getattr__(self, name: str) -> Any:
        return getattr(self.lm_head, name)

    @property
    def quant_method(self) -> Fp32Head:
        """What the logits processor asks for the product."""
        return self

    def apply(self, layer: object, x: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """fp32 logits ``[..., vocab]`` of hidden states ``[..., hidden]``."""
        del layer
        return copy_of(self.lm_head).logits(x, bias)


def lm_head_for(model: Any) -> Any:
    """The head of a model: its own object with the switch off, one that computes in fp32 with it on.

    Raises:
        PatchWithoutPluginError: it is on, and the plugin is not loaded in this process.
    """
    if plugin.installed_strategy() is HeadStrategy.SOURCE_PATCH:
        return Fp32Head(model.lm_head)
    on, _ = read_switch(os.environ)
    if on:
        raise PatchWithoutPluginError(
            f"the fp32 lm_head is on and NemotronH's source is patched, but the plugin {plugin.NAME} is not loaded in "
            f"process {os.getpid()}, so a refit would leave the copy behind: let VLLM_PLUGINS include it"
        )
    return model.lm_head
