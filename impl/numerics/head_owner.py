"""Which module owns the head: the trainer's ``output_layer`` and the rollout engine's ``lm_head``.

A lookup that finds nothing and says nothing is how one engine ends up in bf16 beside an fp32 one, or
on a head that no refit ever reaches; so every lookup here either names the owner or raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

if TYPE_CHECKING:
    from collections.abc import Iterator

TRAINER_NESTING = ("module", "thinker", "llava_model", "language_model")
"""Attributes under which data-parallel wrappers and multimodal models keep the language model."""


class HeadNotFoundError(LookupError):
    """No head, or no single one, where one must be."""


class QuantizedHeadError(TypeError):
    """The head's weight is stored in a format that an upcast does not restore."""


def nested_chunks(chunk: nn.Module) -> Iterator[nn.Module]:
    """Yield a model chunk and what it wraps, outermost first, down to the first owner of ``output_layer``.

    Args:
        chunk: one pipeline chunk, possibly wrapped (DDP, Float16Module) or multimodal.
    """
    module: nn.Module | None = chunk
    seen: set[int] = set()
    while module is not None and id(module) not in seen:
        seen.add(id(module))
        yield module
        if getattr(module, "output_layer", None) is not None:
            return
        module = next(
            (child for name in TRAINER_NESTING if isinstance(child := getattr(module, name, None), nn.Module)),
            None,
        )


def resolve_output_layer_owner(chunk: nn.Module) -> nn.Module | None:
    """Return the module of a Megatron chunk that has the ``output_layer``.

    Args:
        chunk: one pipeline chunk.

    Returns:
        The owner, or None where the chunk has none because it is not the last pipeline stage.

    Raises:
        HeadNotFoundError: the chunk says ``post_process`` (it is the last stage) and has no output layer.
    """
    nesting = list(nested_chunks(chunk))
    if getattr(nesting[-1], "output_layer", None) is not None:
        return nesting[-1]
    last_stage = [type(module).__name__ for module in nesting if getattr(module, "post_process", False)]
    if last_stage:
        path = " > ".join(type(module).__name__ for module in nesting)
        raise HeadNotFoundError(
            f"{last_stage[-1]} has post_process set but no output_layer was found (walked {path} through "
            f"{', '.join('.' + name for name in TRAINER_NESTING)}): the trainer's head would stay in bf16 "
            f"beside an fp32 rollout. Add the attribute that holds its language model to TRAINER_NESTING, "
            f"or turn megatron_cfg.fp32_lm_head off"
        )
    return None


def unwrap(model: nn.Module) -> nn.Module:
    """Shed wrappers that offer ``unwrap()``, such as a CUDA-graph wrapper.

    They delegate reads to the model but keep writes to themselves, so a flag set on one is invisible to
    the ``compute_logits`` that should obey it.
    """
    seen: set[int] = set()
    while callable(method := getattr(type(model), "unwrap", None)) and id(model) not in seen:
        seen.add(id(model))
        model = method(model)
    return model


def resolve_lm_head_owner(model: nn.Module) -> nn.Module:
    """Return the module of a rollout model whose ``lm_head`` computes its logits.

    Looks through ``unwrap()`` wrappers, then down ``language_model`` attributes, then over all named
    modules.

    Raises:
        HeadNotFoundError: no module has an ``lm_head`` with a weight, or several unrelated ones have.
    """
    top = unwrap(model)
    module: object = top
    seen: set[int] = set()
    while isinstance(module, nn.Module) and id(module) not in seen:
        module = unwrap(module)
        seen.add(id(module))
        if _has_head(module):
            return module
        module = getattr(module, "language_model", None)
    owners = {name: child for name, child in top.named_modules() if _has_head(child)}
    if len({id(owner.lm_head) for owner in owners.values()}) == 1:
        found: nn.Module = next(iter(owners.values()))
        return found
    what = f"several: {', '.join(name or '(top)' for name in owners)}" if owners else "none"
    raise HeadNotFoundError(
        f"{type(top).__name__} must have one lm_head with a weight, found {what} (looked through unwrap(), "
        f"language_model and all named modules): a rollout engine without a known head would sample from "
        f"whatever its fp32 copy last held"
    )


def _has_head(module: nn.Module) -> bool:
    """Whether this module itself has a head with a weight; a pipeline placeholder has none."""
    return getattr(getattr(module, "lm_head", None), "weight", None) is not None
