"""Keeping a worker's cached head right through weight updates, whichever way the weights come.

No single hook sees every update: most pass the model's ``load_weights``; a checkpoint engine reaches it
without the update lifecycle around it; sparse deltas and engines that write into storage pass neither. So
the leaf, both ends of an update, and every direct writer all mark the copy.
"""

from __future__ import annotations

import functools
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from impl.numerics.cached_head import CachedHead, attach_cached_head
from impl.numerics.head_owner import resolve_lm_head_owner, unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import nn

logger = logging.getLogger(__name__)


def reads_cached_head(compute_logits: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a ``compute_logits`` that takes its weights from the cached head of its own module."""
    compute_logits.__dict__["reads_cached_head"] = True
    return compute_logits


class WorkerHeads:
    """The cached heads of one worker: its policy's, and its drafter's if that would ever read one.

    Attributes:
        cached: the heads kept, the policy's first.
    """

    def __init__(self, policy: nn.Module, drafter: nn.Module | None = None, *, compare_content: bool = False) -> None:
        """Attach the heads and watch the models' ``load_weights``.

        Args:
            policy: the model that samples.
            drafter: the speculative model or None. It gets a copy only if its own ``compute_logits`` is
                marked with `reads_cached_head`: another one would hold memory that nothing reads.
            compare_content: see `CachedHead`.

        Raises:
            HeadNotFoundError: the policy has no head, or a drafter that reads one has none.
            QuantizedHeadError: such a head is quantized.
        """
        self.cached: list[CachedHead] = []
        self._first_refresh_logged = False
        for model in (policy, drafter):
            if model is None or (model is drafter and not _would_read(model)):
                continue
            cached = attach_cached_head(model, compare_content=compare_content)
            watch_load_weights(model, cached)
            if cached not in self.cached:
                self.cached.append(cached)

    def invalidate(self) -> None:
        """Mark every head; for writers that pass neither `update` nor ``load_weights``."""
        for cached in self.cached:
            cached.invalidate()

    @contextmanager
    def update(self) -> Iterator[None]:
        """Surround a weight update: mark at its begin and at its end, then refresh in place.

        After a failed update the heads stay marked, so the next forward reads what the live weights then
        hold; the error passes on.

        Raises:
            StaleHeadError: a copy does not equal its live head afterwards.
        """
        self.invalidate()
        try:
            yield
        finally:
            self.invalidate()
        self.refresh()

    def refresh(self) -> None:
        """Refresh every head now, for captured graphs that run no Python of ours; log the first only."""
        drifts = [cached.refresh() for cached in self.cached]
        level = logging.DEBUG if self._first_refresh_logged else logging.INFO
        self._first_refresh_logged = True
        logger.log(level, "fp32 lm_head refreshed, largest change %s", drifts)


def watch_load_weights(model: nn.Module, cached: CachedHead) -> None:
    """Mark a cached head before and after every ``load_weights`` of a model, the leaf of most transports.

    The method is replaced on the unwrapped model's instance, since what is written on a wrapper stays on
    the wrapper; watching twice is watching once. A model without the method is left as it is.
    """
    target = unwrap(model)
    load = getattr(target, "load_weights", None)
    if load is None or getattr(load, "watched_head", None) is cached:
        return

    @functools.wraps(load)
    def watched(*args: Any, **kwargs: Any) -> Any:
        cached.invalidate()
        try:
            return load(*args, **kwargs)
        finally:
            cached.invalidate()

    watched.__dict__["watched_head"] = cached
    object.__setattr__(target, "load_weights", watched)


def _would_read(drafter: nn.Module) -> bool:
    """Whether a drafter's own logits come from a cached head."""
    if getattr(getattr(unwrap(drafter), "compute_logits", None), "reads_cached_head", False):
        return True
    compute = getattr(_owner_or_none(drafter), "compute_logits", None)
    return bool(getattr(compute, "reads_cached_head", False))


def _owner_or_none(drafter: nn.Module) -> nn.Module | None:
    """The owner of a drafter's head; None where it has none of its own (tied to the policy)."""
    try:
        return resolve_lm_head_owner(drafter)
    except LookupError:
        return None
