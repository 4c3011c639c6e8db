"""Starting vLLM with the fp32 head, and not going on without it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from impl.numerics.vllm import plugin
from impl.numerics.vllm.installed import installed_vllm
from impl.numerics.vllm.switch import HeadStrategy, choose_strategy, environment_for

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKER_EXTENSION = "impl.numerics.vllm.worker.HeadWorker"
"""What to give vLLM as ``worker_extension_cls``."""


@contextmanager
def switched(strategy: HeadStrategy | None) -> Iterator[None]:
    """Start engines inside this block: their processes inherit the switch, and this one has what it asks for.

    Raises:
        HeadSwitchError: this vLLM cannot do it that way.
    """
    if strategy is not None:
        choose_strategy(strategy, installed_vllm())
    wanted = environment_for(strategy)
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        # vLLM loads its plugins once a process; a second engine in this one may want another strategy.
        plugin.register()
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def require_fp32_head(llm: Any, strategy: HeadStrategy) -> list[dict[str, Any]]:
    """Prove in every worker of an engine, before its first token, that its head is fp32.

    Args:
        llm: vLLM's ``LLM``, or anything with its ``collective_rpc``, started with `WORKER_EXTENSION`.
        strategy: the one that was asked for.

    Returns:
        What each worker found: the logits' ``dtype``, and their share on the bf16 grid.

    Raises:
        PluginNotLoadedError: a worker does not have the strategy.
        Fp32HeadError: a worker's logits are not fp32.
    """
    return list(llm.collective_rpc("rlc_prove", args=(strategy.value,)))
