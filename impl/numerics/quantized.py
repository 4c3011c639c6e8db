"""Telling a head that can be upcast from one that cannot."""

from __future__ import annotations

import torch
from torch import nn

from impl.numerics.head_owner import QuantizedHeadError

FLOAT_DTYPES = frozenset({torch.bfloat16, torch.float16, torch.float32})
QUANTIZATION_MARKS = ("weight_scale", "weight_scale_inv", "qweight", "input_quantizer", "weight_quantizer")


def refuse_quantized_weight(weight: torch.Tensor, owner: str) -> None:
    """Raise unless a weight holds plain floating-point numbers.

    Args:
        weight: the head's weight, ``[vocab, hidden]``.
        owner: the name of its layer, for the message.

    Raises:
        QuantizedHeadError: the dtype is not bf16, fp16 or fp32, or the tensor is of a quantized class.
    """
    if weight.dtype not in FLOAT_DTYPES or type(weight.data) is not torch.Tensor:
        raise QuantizedHeadError(
            f"{owner} has a weight of {type(weight.data).__name__} with dtype {weight.dtype}: an fp32 head "
            f"needs bf16, fp16 or fp32 numbers, and upcasting quantized ones ignores their scales. Exclude "
            f"the head from quantization, or turn the fp32 head off on both sides"
        )


def refuse_quantized_layer(layer: nn.Module, owner: str) -> None:
    """Raise if a layer keeps its weight in a quantized form.

    Raises:
        QuantizedHeadError: it carries a quantizer's scales, or its weight is refused.
    """
    marks = [name for name in QUANTIZATION_MARKS if getattr(layer, name, None) is not None]
    if marks:
        raise QuantizedHeadError(
            f"{owner} ({type(layer).__name__}) carries {', '.join(marks)}: it is quantized, and an fp32 head "
            f"would ignore those. Exclude the head from quantization, or turn the fp32 head off on both sides"
        )
    weight = getattr(layer, "weight", None)
    if weight is not None:
        refuse_quantized_weight(weight, owner)
