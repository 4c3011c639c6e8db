"""The entry point of vLLM's ``vllm.general_plugins``, which loads in its front, engine-core and worker processes.

With the switch off nothing of vLLM is imported and nothing changed.
"""

from __future__ import annotations

import functools
import logging
import os
from typing import TYPE_CHECKING, Any

from impl.numerics.vllm.switch import HeadStrategy, choose_strategy, read_switch

if TYPE_CHECKING:
    from collections.abc import Callable

    from impl.numerics.vllm.replaced_methods import ReplacedMethods

logger = logging.getLogger(__name__)

NAME = "rl_contracts_fp32_lm_head"
"""Of the entry point; where ``VLLM_PLUGINS`` is set it must be in it."""

_state: dict[str, Any] = {"strategy": None, "replaced": None}


def register() -> None:
    """Install what the environment asks for in this process; vLLM calls it, any number of times.

    Raises:
        HeadSwitchError: the switch cannot be read, or asks for what this vLLM cannot do.
        SourcePatchError: the strategy is the source patch, and the source cannot be patched.
    """
    on, wanted = read_switch(os.environ)
    if not on:
        if _state["strategy"] is not None:
            uninstall()
        return
    from impl.numerics.vllm.installed import installed_vllm  # noqa: PLC0415 - nothing else is loaded while it is off

    install(choose_strategy(wanted, installed_vllm()))


def installed_strategy() -> HeadStrategy | None:
    """The strategy that is installed in this process."""
    found: HeadStrategy | None = _state["strategy"]
    return found


def install(strategy: HeadStrategy) -> None:
    """Install a strategy in this process, instead of the one that is there.

    Raises:
        HeadSwitchError: it cannot work on this vLLM, as the source patch where there is a native head.
        SourcePatchError: it is the source patch, and the source cannot be patched.
    """
    from impl.numerics.vllm.head_hook import hook_head  # noqa: PLC0415 - nothing is loaded while it is off
    from impl.numerics.vllm.installed import NEMOTRON_H, installed_vllm  # noqa: PLC0415 - as above
    from impl.numerics.vllm.invalidation import watch_weights  # noqa: PLC0415 - as above
    from impl.numerics.vllm.native_head import add_native_head  # noqa: PLC0415 - as above
    from impl.numerics.vllm.replaced_methods import ReplacedMethods  # noqa: PLC0415 - as above

    if _state["strategy"] is strategy:
        return
    source = installed_vllm()
    choose_strategy(strategy, source)
    uninstall()
    replaced = ReplacedMethods()
    if strategy is HeadStrategy.NATIVE:
        add_native_head(replaced)
    elif strategy is HeadStrategy.SOURCE_PATCH:
        from impl.numerics.vllm.source_patch import patch_file  # noqa: PLC0415 - as above

        patch_file(source.folder / NEMOTRON_H, source.version)
    else:
        hook_head(replaced, strategy)
    if strategy in {HeadStrategy.CACHED, HeadStrategy.SOURCE_PATCH}:
        watch_weights(replaced)
    _prove_after_loading(replaced, strategy)
    _state.update(strategy=strategy, replaced=replaced)
    logger.info("the fp32 lm_head is on in process %d: %s", os.getpid(), strategy)


def uninstall() -> None:
    """Put everything back as vLLM has it."""
    replaced: ReplacedMethods | None = _state["replaced"]
    if replaced is not None:
        replaced.restore()
    _state.update(strategy=None, replaced=None)


def _prove_after_loading(replaced: ReplacedMethods, strategy: HeadStrategy) -> None:
    """Let every worker prove its head once its model is loaded, before memory is measured and tokens are asked for."""
    from vllm.v1.worker.gpu_worker import Worker  # noqa: PLC0415 - as in `install`

    from impl.numerics.vllm.proof import is_last_pipeline_stage, prove_fp32_head  # noqa: PLC0415 - as in `install`

    def proving(load_model: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(load_model)
        def loaded(worker: Any, *args: Any, **kwargs: Any) -> None:
            load_model(worker, *args, **kwargs)
            if is_last_pipeline_stage():
                found = prove_fp32_head(worker.model_runner.get_model(), strategy)
                logger.info("proved the fp32 lm_head (%s): %s", strategy, found)

        return loaded

    replaced.replace(Worker, "load_model", proving)
