"""The fp32 copies of the heads of this process: a policy's, and a drafter's if that has a head of its own."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from impl.numerics.cached_head import CachedHead

if TYPE_CHECKING:
    from torch import nn

_ATTRIBUTE = "_rlc_fp32_copy"
_copies: weakref.WeakSet[CachedHead] = weakref.WeakSet()


def copy_of(lm_head: nn.Module) -> CachedHead:
    """The copy of a head, made at the first call; it enters neither ``named_parameters()`` nor the state dict.

    Raises:
        QuantizedHeadError: the head holds no plain numbers.
    """
    found: CachedHead | None = lm_head.__dict__.get(_ATTRIBUTE)
    if found is None:
        found = CachedHead(lm_head)
        object.__setattr__(lm_head, _ATTRIBUTE, found)
        _copies.add(found)
    return found


def existing_copy(lm_head: nn.Module) -> CachedHead | None:
    """The copy of a head, if it has one."""
    return lm_head.__dict__.get(_ATTRIBUTE)


def invalidate_copies() -> None:
    """Mark every copy as possibly stale. One engine's update marks another's too, which costs that one refresh."""
    for copy in _copies:
        copy.invalidate()


def refresh_copies() -> list[float | None]:
    """Bring every copy that was built up to date in place; the largest change of each.

    Raises:
        StaleHeadError: a copy cannot be brought to equal its live head.
    """
    return [copy.refresh() for copy in list(_copies) if copy.storage_address is not None]
