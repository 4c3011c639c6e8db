"""The proof, on a loaded model and before the first token, that its logits are fp32 and not rounded to bf16.

A strategy that is installed in the wrong process, or undone by a later cast, looks switched on and changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from impl.numerics.head_owner import HeadNotFoundError, QuantizedHeadError, resolve_lm_head_owner, unwrap
from impl.numerics.quantized import refuse_quantized_layer

if TYPE_CHECKING:
    from torch import nn

ROWS = 4
ON_GRID = 0.5
"""Share of logits on the bf16 grid that decides: a true fp32 value is there once in 2^16."""

PLACEHOLDERS = ("StageMissingLayer", "PPMissingLayer")
"""What vLLM puts where a model has no head; attributes are read through it, and calls refused."""

UNQUANTIZED = ("UnquantizedEmbeddingMethod", "UnquantizedLinearMethod")


class Fp32HeadError(RuntimeError):
    """The fp32 head was asked for and its logits are not fp32."""


@dataclass(frozen=True)
class HeadProof:
    """What a model's logits are.

    Attributes:
        dtype: theirs.
        on_bf16_grid: share of them that bf16 represents exactly.
    """

    dtype: str
    on_bf16_grid: float


def refuse_heads_without_fp32(model: nn.Module) -> nn.Module:
    """The head of a model.

    Raises:
        HeadNotFoundError: it has none.
        QuantizedHeadError: it is quantized.
    """
    lm_head = resolve_lm_head_owner(model).get_submodule("lm_head")
    if type(lm_head).__name__ in PLACEHOLDERS:
        raise HeadNotFoundError(
            f"{type(unwrap(model)).__name__} was loaded without its lm_head ({type(lm_head).__name__}), as to pool: "
            f"an fp32 head is for models that generate. Turn it off for this one"
        )
    refuse_quantized_layer(lm_head, "lm_head")
    method = type(getattr(lm_head, "quant_method", None)).__name__
    if method not in UNQUANTIZED:
        raise QuantizedHeadError(
            f"lm_head ({type(lm_head).__name__}) is computed by {method}: it is quantized, and an fp32 head needs "
            f"plain numbers. Exclude the head from quantization, or turn the fp32 head off on both sides"
        )
    return lm_head


@torch.inference_mode()
def examine_head(model: nn.Module) -> HeadProof | None:
    """Compute logits of a few random hidden states and look at them; None on a rank that has no logits.

    Raises:
        HeadNotFoundError: no head.
        QuantizedHeadError: a quantized one.
        Fp32HeadError: every logit is zero, so that nothing can be told.
    """
    target: Any = unwrap(model)
    weight: Any = refuse_heads_without_fp32(target).weight
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(ROWS, weight.shape[-1], generator=generator).to(weight.device, weight.dtype)
    logits = target.compute_logits(hidden)
    if logits is None:
        return None
    # Zeros are on every grid: rows of padding, or weights that were never written.
    values = logits[logits != 0]
    if not values.numel():
        raise Fp32HeadError("every logit of the lm_head is zero, so nothing shows its precision: load weights first")
    on_grid = float((values.bfloat16().float() == values.float()).float().mean())
    return HeadProof(str(logits.dtype).removeprefix("torch."), on_grid)


def prove_fp32_head(model: nn.Module, strategy: str) -> HeadProof | None:
    """Raise unless a model's logits are fp32 in dtype and in value.

    Args:
        model: as a worker holds it, wrapped or not.
        strategy: for the message.

    Raises:
        Fp32HeadError: they are not.
        HeadNotFoundError: no head.
        QuantizedHeadError: a quantized one.
    """
    found = examine_head(model)
    if found is not None and (found.dtype != "float32" or found.on_bf16_grid > ON_GRID):
        raise Fp32HeadError(
            f"the fp32 lm_head ({strategy}) is switched on, and the logits of {type(unwrap(model)).__name__} are "
            f"{found.dtype}, {found.on_bf16_grid:.0%} of them on the bf16 grid: the strategy has no effect on this "
            f"vLLM. Choose another one, or turn the fp32 head off on both sides"
        )
    return found


def is_last_pipeline_stage() -> bool:
    """Whether this process has the head at all."""
    from vllm.distributed import get_pp_group  # noqa: PLC0415 - as in `invalidation`

    return bool(get_pp_group().is_last_rank)


__all__ = [
    "Fp32HeadError",
    "HeadNotFoundError",
    "HeadProof",
    "QuantizedHeadError",
    "examine_head",
    "is_last_pipeline_stage",
    "prove_fp32_head",
    "refuse_heads_without_fp32",
]
