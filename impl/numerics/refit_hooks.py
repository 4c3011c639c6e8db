"""Keeping a worker's cached head right through weight updates, whichever way the weights come.

No single hook sees every update: most pass the model's ``load_weights``; a checkpoint engine reaches it
without the update lifecycle around it; sparse deltas and engines that write into storage pass neither. So
the leaf, both ends of an update, and every direct writer all mark the copy.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from impl.numerics.cached_head import CachedHead, attach_cached_head
from impl.numerics.head_owner import resolve_lm_head_owner, unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch import nn

logger = logging.getLogger(__name__)


def reads_cached_head(compute_logits: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a ``compute_logits`` that takes its weights from the cached head of its own module."""
    compute_logits.__dict__["reads_cached_head"] = True
    return compute_logits


class WorkerHeads:
    """The cached heads of one worker: its policy's, and its drafter's if that would ever read one."""

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
        self._first_refresh_logged = False
        reads = drafter is not None and drafter is not policy and _would_read(drafter)
        self._models = [policy, drafter] if drafter is not None and reads else [policy]
        for model in self._models:
            attach_cached_head(model, compare_content=compare_content)
        # A drafter may share the policy's lm_head: whichever model is loaded, every copy may be stale.
        for model in self._models:
            watch_load_weights(model, self.cached)

    @property
    def cached(self) -> list[CachedHead]:
        """The heads kept, the policy's first; each follows the ``lm_head`` that its owner has now."""
        return [attach_cached_head(model) for model in self._models]

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


class _WatchedLoad:
    """Stands in for a model's ``load_weights``. An object and not a closure, so that a copied model loads itself."""

    def __init__(self, load: Callable[..., Any], heads: Sequence[CachedHead]) -> None:
        self.load, self.heads = load, list(heads)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Load, with every head marked before and after."""
        self._invalidate()
        try:
            return self.load(*args, **kwargs)
        finally:
            self._invalidate()

    def _invalidate(self) -> None:
        for cached in self.heads:
            cached.invalidate()


def watch_load_weights(model: nn.Module, heads: Sequence[CachedHead]) -> None:
    """Mark cached heads before and after every ``load_weights`` of a model, the leaf of most transports.

    The method is replaced on the unwrapped model's instance, since what is written on a wrapper stays on
    the wrapper; watching again adds the heads that were not watched for. A model without the method is
    left as it is.
    """
    target = unwrap(model)
    load = getattr(target, "load_weights", None)
    if isinstance(load, _WatchedLoad):
        load.heads += [cached for cached in heads if cached not in load.heads]
    elif load is not None:
        object.__setattr__(target, "load_weights", _WatchedLoad(load, heads))


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
