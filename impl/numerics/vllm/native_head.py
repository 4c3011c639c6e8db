"""vLLM's own fp32 head: ``head_dtype`` in the model's configuration, and in its drafter's.

A dictionary of overrides does not reach a drafter's configuration; a callable does.
"""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from impl.numerics.vllm.replaced_methods import ReplacedMethods

logger = logging.getLogger(__name__)

DTYPE = "float32"


def with_fp32_head(config: Any) -> Any:
    """Set ``head_dtype`` on a Hugging Face configuration; what to give vLLM as ``hf_overrides``."""
    config.head_dtype = DTYPE
    return config


def fp32_overrides(overrides: Any) -> Any:
    """A caller's own ``hf_overrides`` with the fp32 head added; can be sent to another process."""
    if callable(overrides):
        return functools.partial(_then_fp32_head, overrides)
    if overrides:
        logger.warning(
            "hf_overrides is a dictionary, which vLLM does not apply to a drafter: its head stays as it is. "
            "Give a callable instead"
        )
        return {**overrides, "head_dtype": DTYPE}
    return with_fp32_head


def add_native_head(replaced: ReplacedMethods) -> None:
    """Let every model configuration that is made in this process have the fp32 head."""
    from vllm.engine.arg_utils import EngineArgs  # noqa: PLC0415 - as in `invalidation`

    def added(create: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(create)
        def created(arguments: Any) -> Any:
            arguments.hf_overrides = fp32_overrides(arguments.hf_overrides)
            return create(arguments)

        return created

    replaced.replace(EngineArgs, "create_model_config", added)


def _then_fp32_head(first: Callable[[Any], Any], config: Any) -> Any:
    return with_fp32_head(first(config))
