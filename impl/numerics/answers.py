"""What engines answer, in the form in which it leaves them: numpy arrays and plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from impl.numerics.checkpoint import State


class EngineStateError(RuntimeError):
    """The engine holds no complete set of weights and will not pretend otherwise."""


@dataclass(frozen=True)
class Prefill:
    """One forward over a sequence.

    Attributes:
        hidden: what goes into the head, fp32 ``[tokens, hidden]`` holding values of the model's dtype.
        logits: what comes out, fp32 ``[tokens, vocab]`` holding values of ``dtype``.
        dtype: the dtype in which the engine had the logits, such as ``float32``.
        logprobs: natural-log probabilities of ``tokens[1:]`` from these logits, fp64 ``[tokens - 1]``.
    """

    hidden: NDArray[np.float32]
    logits: NDArray[np.float32]
    dtype: str
    logprobs: NDArray[np.float64]


@dataclass(frozen=True)
class Gradients:
    """One backward of the mean negative log probability of ``tokens[1:]``.

    Attributes:
        hidden: what went into the head at each of ``tokens[:-1]``, fp32 ``[tokens - 1, hidden]``.
        dtypes: the gradients' dtypes, by parameter name.
        values: the gradients, fp32, by parameter name; a parameter that got none is absent.
    """

    hidden: NDArray[np.float32]
    dtypes: dict[str, str]
    values: dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Sample:
    """One sampled continuation: its tokens, and their natural-log probabilities when they were sampled."""

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]


def prefill_of(hidden: torch.Tensor, logits: torch.Tensor, tokens: Sequence[int]) -> Prefill:
    """Bring one forward's ``[tokens, ...]`` tensors into the form that leaves the engine."""
    spread = functional.log_softmax(logits[:-1].float(), dim=-1)
    taken = spread.gather(-1, torch.tensor(list(tokens[1:]), device=spread.device)[:, None])[:, 0]
    return Prefill(
        hidden.float().cpu().numpy(),
        logits.float().cpu().numpy(),
        str(logits.dtype).removeprefix("torch."),
        taken.double().cpu().numpy(),
    )


def gradients_of(hidden: torch.Tensor, found: State) -> Gradients:
    """Bring one backward's tensors into the form that leaves the engine."""
    return Gradients(
        hidden.float().cpu().numpy(),
        {name: str(tensor.dtype).removeprefix("torch.") for name, tensor in found.items()},
        {name: tensor.float().cpu().numpy() for name, tensor in found.items()},
    )


def arrays_of(state: State) -> dict[str, NDArray[np.float32]]:
    """Weights as they leave an engine: fp32 arrays of the values that their own dtype holds, by name."""
    return {name: tensor.float().numpy() for name, tensor in state.items()}
