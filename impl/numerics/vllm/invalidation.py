"""Marking the fp32 copies wherever weights are written, in every process that this is installed in.

No single hook sees every update. The leaf is the loader of vocabulary-sized layers, which everything in checkpoint
format passes; vLLM's kernel-format reload and its weight-transfer engines write past it, so the worker's own entry
points mark too, after they wrote: a forward in between would have consumed an earlier mark.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from impl.numerics.vllm.head_copies import invalidate_copies, refresh_copies

if TYPE_CHECKING:
    from collections.abc import Callable

    from impl.numerics.vllm.replaced_methods import ReplacedMethods

WRITERS = ("update_weights", "wake_up")
"""The worker's methods after which weights may still be in flight: they mark."""

COMPLETED_BY = ("reload_weights", "finish_weight_update")
"""Those after which an update is complete: they mark, and refresh where they succeeded."""


def watch_weights(replaced: ReplacedMethods) -> None:
    """Replace every method of vLLM that writes weights by one that marks the copies too."""
    from vllm.model_executor.layers.vocab_parallel_embedding import VocabParallelEmbedding  # noqa: PLC0415 - a plugin
    from vllm.v1.worker.gpu_worker import Worker  # noqa: PLC0415 - imports vLLM only where the switch is on

    replaced.replace(VocabParallelEmbedding, "weight_loader", _marking)
    for name in WRITERS:
        if name in vars(Worker):
            replaced.replace(Worker, name, _marking)
    for name in COMPLETED_BY:
        if name in vars(Worker):
            replaced.replace(Worker, name, _completing)


def _marking(write: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(write)
    def marked(*args: Any, **kwargs: Any) -> Any:
        try:
            return write(*args, **kwargs)
        finally:
            invalidate_copies()

    return marked


def _completing(write: Callable[..., Any]) -> Callable[..., Any]:
    marked = _marking(write)

    @functools.wraps(write)
    def completed(*args: Any, **kwargs: Any) -> Any:
        answer = marked(*args, **kwargs)
        refresh_copies()
        return answer

    return completed
