"""The layers of a NemotronH in Megatron-Core; imported only in worker processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest import mock

import torch
from megatron.core.fusions.fused_bias_dropout import get_bias_dropout_add
from megatron.core.models.mamba.mamba_model import MambaModel
from megatron.core.ssm import mamba_block
from megatron.core.ssm.mamba_layer import MambaLayer, MambaLayerSubmodules
from megatron.core.ssm.mlp_layer import MLPLayer
from megatron.core.tensor_parallel import ColumnParallelLinear, RowParallelLinear
from megatron.core.transformer.attention import SelfAttention, SelfAttentionSubmodules
from megatron.core.transformer.dot_product_attention import DotProductAttention
from megatron.core.transformer.enums import AttnMaskType
from megatron.core.transformer.mlp import MLP, MLPSubmodules
from megatron.core.transformer.spec_utils import ModuleSpec
from megatron.core.transformer.torch_norm import WrappedTorchNorm
from megatron.core.transformer.transformer_layer import TransformerLayer, TransformerLayerSubmodules
from transformers import NemotronHConfig
from transformers.models.nemotron_h.modeling_nemotron_h import NemotronHMamba2Mixer

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Mixer(torch.nn.Module):
    """The mixer of transformers in the place of Megatron's.

    Its arguments are those with which a MambaLayer builds and calls its mixer.
    """

    def __init__(self, _config: Any, *, hf: NemotronHConfig, layer_number: int, **_: Any) -> None:
        super().__init__()
        self.inner = NemotronHMamba2Mixer(hf, layer_idx=layer_number - 1)

    def forward(self, hidden: torch.Tensor, **_: Any) -> tuple[torch.Tensor, None]:
        """``[sequence, batch, hidden]`` to the same, and no bias."""
        return self.inner(hidden.transpose(0, 1)).transpose(0, 1), None


def _attention() -> ModuleSpec:
    attention = ModuleSpec(
        module=SelfAttention,
        params={"attn_mask_type": AttnMaskType.causal},
        submodules=SelfAttentionSubmodules(
            linear_qkv=ColumnParallelLinear, core_attention=DotProductAttention, linear_proj=RowParallelLinear
        ),
    )
    return ModuleSpec(
        module=TransformerLayer,
        submodules=TransformerLayerSubmodules(
            input_layernorm=WrappedTorchNorm, self_attention=attention, self_attn_bda=get_bias_dropout_add
        ),
    )


def _mlp() -> ModuleSpec:
    mlp = ModuleSpec(
        module=MLP, submodules=MLPSubmodules(linear_fc1=ColumnParallelLinear, linear_fc2=RowParallelLinear)
    )
    return ModuleSpec(
        module=MLPLayer,
        submodules=TransformerLayerSubmodules(
            pre_mlp_layernorm=WrappedTorchNorm, mlp=mlp, mlp_bda=get_bias_dropout_add
        ),
    )


def build(hf: Mapping[str, Any], config: Any, rows: int, pattern: str) -> Any:
    """Build the model.

    Args:
        hf: the configuration under Hugging Face names.
        config: Megatron's ``TransformerConfig``.
        rows: vocabulary rows with padding.
        pattern: a letter a layer.
    """
    settings = NemotronHConfig(**hf)
    # A MambaLayer builds its norm without an epsilon.
    norm = ModuleSpec(module=WrappedTorchNorm, params={"eps": config.layernorm_epsilon})
    mamba = ModuleSpec(
        module=MambaLayer,
        submodules=MambaLayerSubmodules(
            norm=norm, mixer=ModuleSpec(module=_Mixer, params={"hf": settings}), mamba_bda=get_bias_dropout_add
        ),
    )
    stack = ModuleSpec(
        module=mamba_block.MambaStack,
        submodules=mamba_block.MambaStackSubmodules(mamba_layer=mamba, attention_layer=_attention(), mlp_layer=_mlp()),
    )
    # The stack makes its last norm itself, and Transformer Engine's at that.
    with mock.patch.object(mamba_block, "TENorm", WrappedTorchNorm):
        return MambaModel(
            config,
            stack,
            vocab_size=rows,
            max_sequence_length=512,
            parallel_output=True,
            hybrid_override_pattern=pattern,
        )
