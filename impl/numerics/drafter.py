"""A speculative drafter beside the policy: a module of its own, with its own head and its own weight stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from impl.numerics.llama import RMSNorm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from impl.numerics.checkpoint import LlamaShape

PREFIX = "drafter."


class Drafter(nn.Module):
    """One projection and a head in the model's dtype; its ``compute_logits`` reads no fp32 copy."""

    def __init__(self, shape: LlamaShape) -> None:
        super().__init__()
        self.fc = nn.Linear(shape.hidden, shape.hidden, bias=False, dtype=torch.bfloat16)
        self.norm = RMSNorm(shape.hidden, shape.eps)
        self.lm_head = nn.Linear(shape.hidden, shape.vocab, bias=False, dtype=torch.bfloat16)

    def forward(self, policy_hidden: torch.Tensor) -> torch.Tensor:
        """The policy's hidden states ``[..., hidden]`` to the drafter's."""
        out: torch.Tensor = self.norm(self.fc(policy_hidden))
        return out

    def compute_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """``[..., hidden]`` to bf16 logits ``[..., vocab]``."""
        return functional.linear(hidden, self.lm_head.weight)

    def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        """Copy weights, named without `PREFIX`, into the parameters' storage.

        Raises:
            KeyError: a name that the drafter does not have.
            ValueError: a tensor of another size.
        """
        own = dict(self.named_parameters())
        for name, tensor in weights:
            if name not in own:
                raise KeyError(f"the drafter has no parameter {name!r}")
            if own[name].shape != tensor.shape:
                raise ValueError(f"{name} is {tuple(own[name].shape)} here, {tuple(tensor.shape)} in the update")
            own[name].data.copy_(tensor)
