"""The fp32 head in ``LogitsProcessor._apply_head``, the one place that every product with a vLLM head passes.

Full logits, local ones, top tokens and LoRA's base projection all come from there, so bias, gathering, padding, scale
and soft cap stay vLLM's own.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from impl.numerics.fp32_linear import fp32_linear
from impl.numerics.vllm.head_copies import copy_of
from impl.numerics.vllm.switch import HeadStrategy

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from impl.numerics.vllm.replaced_methods import ReplacedMethods


def hook_head(replaced: ReplacedMethods, strategy: HeadStrategy) -> None:
    """Let every logits processor that is built from now on compute in fp32.

    The hook lies on the object: those built before, or after it is taken back, are as vLLM made them.

    Raises:
        AttributeError: this vLLM has no such method.
    """
    from vllm.model_executor.layers.logits_processor import LogitsProcessor  # noqa: PLC0415 - as in `invalidation`

    apply = _HEADS[strategy]
    _ = LogitsProcessor._apply_head  # noqa: SLF001 - vLLM's own place for this; absent, nothing would ever be hooked

    def hook(initialize: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(initialize)
        def hooked(processor: Any, *args: Any, **kwargs: Any) -> None:
            initialize(processor, *args, **kwargs)
            object.__setattr__(processor, "_apply_head", apply)

        return hooked

    replaced.replace(LogitsProcessor, "__init__", hook)


def _from_copy(lm_head: Any, hidden_states: torch.Tensor, embedding_bias: torch.Tensor | None) -> torch.Tensor:
    return copy_of(lm_head).logits(hidden_states, embedding_bias)


def _per_call(lm_head: Any, hidden_states: torch.Tensor, embedding_bias: torch.Tensor | None) -> torch.Tensor:
    return fp32_linear(hidden_states, lm_head.weight, embedding_bias)


_HEADS = {HeadStrategy.CACHED: _from_copy, HeadStrategy.PER_CALL: _per_call}
