"""Looking at what goes into a head and what comes out, without changing either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from impl.numerics.head_owner import unwrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn


class Recorder:
    """Keeps the hidden states and logits of every ``compute_logits`` of a model while it is open.

    Attributes:
        calls: ``(hidden, logits)`` of each call, ``[rows, hidden]`` and ``[rows, vocab]``, in the model's own dtypes.
    """

    def __init__(self, model: nn.Module) -> None:
        # On the unwrapped model: what is written on a wrapper stays on the wrapper.
        self._model = unwrap(model)
        self._before: object = None
        self.calls: list[tuple[torch.Tensor, torch.Tensor]] = []

    def open(self) -> None:
        """Begin to record."""
        compute: Callable[..., Any] = getattr(self._model, "compute_logits")  # noqa: B009 - not a submodule, for mypy

        def recorded(hidden: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            logits = compute(hidden, *args, **kwargs)
            if logits is not None:  # ranks that do not gather have none
                self.calls.append((hidden.detach().cpu().clone(), logits.detach().cpu().clone()))
            return logits

        self._before = self._model.__dict__.get("compute_logits")
        object.__setattr__(self._model, "compute_logits", recorded)

    def close(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Stop, and hand out what was recorded."""
        del self._model.__dict__["compute_logits"]
        if self._before is not None:
            object.__setattr__(self._model, "compute_logits", self._before)
        calls, self.calls = self.calls, []
        return calls


def in_order(calls: list[tuple[torch.Tensor, torch.Tensor]]) -> tuple[torch.Tensor, torch.Tensor]:
    """One prompt's hidden states and logits by position.

    vLLM computes the logits that it samples from first, of the last position, and then those of the positions before,
    for which prompt logprobs were asked.

    Raises:
        ValueError: there is not one call of one row, followed by at most one.
    """
    if not calls or len(calls[0][0]) != 1 or len(calls) > 2:  # noqa: PLR2004 - the last position, and those before
        rows = [len(hidden) for hidden, _ in calls]
        raise ValueError(f"the head was called with {rows} rows: one prompt in one step has 1 and the others")
    before, last = calls[1:], calls[:1]
    hidden, logits = zip(*(*before, *last), strict=True)
    return torch.cat(hidden), torch.cat(logits)
