"""The one switch of vLLM's fp32 head, and which strategy it means on the vLLM that is installed.

``NRL_VLLM_FP32_LM_HEAD=1`` switches it on, in the environment that the engine's processes inherit;
``NRL_VLLM_FP32_LM_HEAD_STRATEGY`` names a strategy, and without it the best one that this vLLM has is taken.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from impl.numerics.vllm.installed import VllmSource

SWITCH = "NRL_VLLM_FP32_LM_HEAD"
STRATEGY = "NRL_VLLM_FP32_LM_HEAD_STRATEGY"


class HeadStrategy(StrEnum):
    """How the logits come to be fp32.

    ``native``: vLLM's own ``head_dtype``, which casts the live weight, or multiplies into fp32 on CUDA: nothing to
    invalidate. ``per_call``: a plugin upcasts the live weight at each call: no memory, and slow. ``cached``: a plugin
    computes from an fp32 copy: fast, four bytes a weight, and it must follow every refit. ``source_patch``: the copy,
    by a change of NemotronH's source, for a vLLM that has neither ``head_dtype`` nor the place that the plugin hooks.
    """

    NATIVE = "native"
    PER_CALL = "per_call"
    CACHED = "cached"
    SOURCE_PATCH = "source_patch"


class HeadSwitchError(ValueError):
    """The switch cannot be read, or asks for what the installed vLLM cannot do."""


def read_switch(environ: Mapping[str, str]) -> tuple[bool, HeadStrategy | None]:
    """Read the switch: whether it is on, and the strategy that is named, if one is.

    Raises:
        HeadSwitchError: a value that is neither on nor off, or no strategy's name.
    """
    value, name = environ.get(SWITCH, ""), environ.get(STRATEGY, "")
    if value not in {"", "0", "1"}:
        raise HeadSwitchError(f'{SWITCH} is {value!r}: set it to "1" (on) or "0" (off)')
    if name and name not in list(HeadStrategy):
        raise HeadSwitchError(f"{STRATEGY} is {name!r}: set it to one of {', '.join(HeadStrategy)}, or remove it")
    return value == "1", HeadStrategy(name) if name else None


def environment_for(strategy: HeadStrategy | None) -> dict[str, str]:
    """What to set in the environment of an engine's processes; None for off."""
    return {SWITCH: "0", STRATEGY: ""} if strategy is None else {SWITCH: "1", STRATEGY: strategy.value}


def choose_strategy(wanted: HeadStrategy | None, source: VllmSource) -> HeadStrategy:
    """The strategy to use on a vLLM.

    Args:
        wanted: the one asked for; None for the best.
        source: what the installed vLLM's files say of it.

    Raises:
        HeadSwitchError: the one asked for cannot work there, or none can; names the version and what to do.
    """
    possible = possible_strategies(source)
    if wanted is None:
        if not possible:
            raise HeadSwitchError(
                f"vLLM {source.version} ({source.folder}) has no head_dtype, no LogitsProcessor._apply_head to hook "
                f"and no NemotronH.compute_logits as this project knows it: its LM head cannot run in fp32. Use a vLLM "
                f"that has head_dtype, or set {SWITCH}=0 and turn the trainer's fp32 head off too"
            )
        return possible[0]
    if wanted not in possible:
        reason = _why_not(wanted, source)
        others = f"set {STRATEGY} to {' or '.join(possible)}" if possible else f"set {SWITCH}=0"
        raise HeadSwitchError(
            f"the fp32 head's strategy {wanted} cannot work on vLLM {source.version} ({source.folder}): {reason}; "
            f"{others}"
        )
    return wanted


def possible_strategies(source: VllmSource) -> list[HeadStrategy]:
    """The strategies that work on a vLLM, the best first."""
    found = []
    if source.native_head:
        found.append(HeadStrategy.NATIVE)
    if source.head_hook:
        found += [HeadStrategy.CACHED, HeadStrategy.PER_CALL]
    if source.patchable:
        found.append(HeadStrategy.SOURCE_PATCH)
    return found


def _why_not(wanted: HeadStrategy, source: VllmSource) -> str:
    if wanted is HeadStrategy.NATIVE:
        return "it has no head_dtype for generation"
    if wanted is not HeadStrategy.SOURCE_PATCH:
        return "it has no LogitsProcessor._apply_head, the one place that every logits computation passes"
    if source.native_head:
        return "it has head_dtype, its own fp32 head, and no file of it needs to be changed"
    return "its NemotronH has no compute_logits that this project knows how to patch"
