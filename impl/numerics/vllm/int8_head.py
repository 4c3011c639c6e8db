"""A model whose head alone is stored in int8, by vLLM's own means for quantization: the fault that fp32 must refuse."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional
from vllm.model_executor.layers.linear import LinearBase, UnquantizedLinearMethod
from vllm.model_executor.layers.quantization import register_quantization_config
from vllm.model_executor.layers.quantization.base_config import QuantizationConfig
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead, UnquantizedEmbeddingMethod

NAME = "rlc_int8_head"
LARGEST = 127


class Int8HeadMethod(UnquantizedEmbeddingMethod):  # type: ignore[misc]  # vLLM is not installed where types are checked
    """Rows of int8 numbers with one scale each."""

    def process_weights_after_loading(self, layer: nn.Module) -> None:
        """Round what was loaded."""
        weight: Any = layer.weight
        scale = weight.data.float().abs().amax(dim=-1, keepdim=True).clamp_min(1e-12) / LARGEST
        layer.weight = nn.Parameter((weight.data.float() / scale).round().to(torch.int8), requires_grad=False)
        layer.weight_scale = nn.Parameter(scale, requires_grad=False)

    def apply(self, layer: Any, x: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """Logits ``[..., vocab]`` in the dtype of ``x``."""
        return functional.linear(x, (layer.weight.float() * layer.weight_scale).to(x.dtype), bias)


@register_quantization_config(NAME)
class Int8HeadConfig(QuantizationConfig):  # type: ignore[misc]  # as above
    """Int8 for the head, nothing for the rest."""

    def get_name(self) -> str:
        """The name under which it is registered."""
        return NAME

    def get_supported_act_dtypes(self) -> list[torch.dtype]:
        """Those of activations."""
        return [torch.bfloat16]

    @classmethod
    def get_min_capability(cls) -> int:
        """Any device."""
        return 0

    @staticmethod
    def get_config_filenames() -> list[str]:
        """It needs no file."""
        return []

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Int8HeadConfig:
        """It has no options."""
        del config
        return cls()

    def get_quant_method(self, layer: nn.Module, prefix: str) -> Any:
        """How a layer computes."""
        del prefix
        if isinstance(layer, ParallelLMHead):
            return Int8HeadMethod()
        return UnquantizedLinearMethod() if isinstance(layer, LinearBase) else None
