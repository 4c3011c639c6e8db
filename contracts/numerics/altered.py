"""Prefills and gradients with something altered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.numerics.protocols import F32, F64


@dataclass(frozen=True)
class AlteredPrefill:
    """One forward, with the attributes of `contracts.numerics.protocols.Prefill`."""

    hidden: F32
    logits: F32
    dtype: str
    logprobs: F64


@dataclass(frozen=True)
class AlteredGradients:
    """One backward, with the attributes of `contracts.numerics.protocols.Gradients`."""

    hidden: F32
    dtypes: Mapping[str, str]
    values: Mapping[str, F32]


@dataclass(frozen=True)
class AlteredSample:
    """One continuation, with the attributes of `contracts.numerics.protocols.Sample`."""

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]


def prefill_with(original: Any, **changes: Any) -> AlteredPrefill:
    """A prefill with some attributes replaced."""
    copy = AlteredPrefill(original.hidden, original.logits, original.dtype, original.logprobs)
    return replace(copy, **changes)


def gradients_with(original: Any, **changes: Any) -> AlteredGradients:
    """Gradients with some attributes replaced."""
    return replace(AlteredGradients(original.hidden, original.dtypes, original.values), **changes)
