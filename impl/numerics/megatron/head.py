"""The trainer's fp32 LM head: Megatron-Core's output layer computed in fp32, its parameters untouched.

The layer's ``forward`` is replaced on the instance. Parameters, their dtypes, the state dict and the
sharded state dict are the layer's own, so checkpoints interchange with a model that has no fp32 head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from impl.numerics.fp32_linear import fp32_linear
from impl.numerics.head_owner import HeadNotFoundError, nested_chunks, resolve_output_layer_owner
from impl.numerics.quantized import refuse_quantized_layer, refuse_quantized_weight
from impl.numerics.tensor_parallel import gather_logits, spread_input

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from torch import nn

    from impl.numerics.config import Fp32HeadMode, MegatronConfig

_MARK = "_fp32_lm_head"


class UnsupportedHeadError(TypeError):
    """The output layer does something that an fp32 forward would silently leave out."""


class _Fp32Forward:
    """Replacement of ``ColumnParallelLinear.forward`` on one layer."""

    def __init__(self, layer: nn.Module, *, tf32: bool) -> None:
        self.layer: Any = layer
        self.tf32 = tf32
        # The fused kernel adds into weight.main_grad, which the upcast weight does not have.
        self.fusion_before = getattr(layer, "gradient_accumulation_fusion", False)

    def __call__(
        self,
        input_: torch.Tensor,
        weight: torch.Tensor | None = None,
        runtime_gather_output: bool | None = None,  # noqa: FBT001 - Megatron's own signature
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Compute the logits in fp32.

        Args:
            input_: hidden states ``[sequence, batch, hidden]``; with sequence parallel this rank's part.
            weight: a tied embedding's weight ``[vocab / tp, hidden]``; None for the layer's own.
            runtime_gather_output: overrides the layer's ``gather_output``.

        Returns:
            fp32 logits ``[sequence, batch, vocab / tp]`` (``vocab`` if gathered), and the bias if the
            layer leaves adding it to its caller.

        Raises:
            ValueError: no weight to use, or one of the wrong shape.
            QuantizedHeadError: the weight passed in is quantized.
        """
        layer = self.layer
        weight = self._weight(weight)
        x = spread_input(layer, input_.float())
        bias = None if layer.skip_bias_add else layer.bias
        logits = fp32_linear(x, weight, bias, stored=input_.dtype, tf32=self.tf32)
        gather = layer.gather_output if runtime_gather_output is None else runtime_gather_output
        if gather:
            logits = gather_logits(layer, logits)
        return logits, (layer.bias if layer.skip_bias_add else None)

    def _weight(self, weight: torch.Tensor | None) -> torch.Tensor:
        """The weight to use: the one passed (tied embeddings) or the layer's."""
        if weight is None:
            own: torch.Tensor | None = self.layer.weight
            if own is None:
                raise ValueError("the output layer has no weight of its own (tied embeddings): pass weight=")
            return own
        expected = (self.layer.output_size_per_partition, self.layer.input_size)
        if tuple(weight.shape) != expected:
            raise ValueError(f"the weight passed to the output layer is {tuple(weight.shape)}, not {expected}")
        refuse_quantized_weight(weight, "the tied embedding")
        return weight


def apply_fp32_lm_head(
    model_chunks: Sequence[nn.Module],
    use_tf32: Fp32HeadMode = False,  # noqa: FBT002 - the established signature
) -> int:
    """Put the output layer of a Megatron model into fp32, before the first forward.

    Applying it again changes at most the mode. Every chunk is looked at before any is changed, so an
    error leaves the model as it was.

    Args:
        model_chunks: this rank's pipeline chunks, wrapped or not.
        use_tf32: False for full fp32; True or ``"tf32"`` for TF32 tensor cores in these GEMMs only.

    Returns:
        How many output layers now run in fp32: 0 only on a rank that is not the last pipeline stage.

    Raises:
        HeadNotFoundError: a ``post_process`` chunk without output layer, or no chunk had one although
            this rank is the last (or only) pipeline stage.
        QuantizedHeadError: the head is quantized.
        UnsupportedHeadError: the layer is not column parallel, or relies on what only its own forward does.
        ValueError: a mode that is none of the above.
    """
    if use_tf32 not in (False, True, "tf32"):
        raise ValueError(f'use_tf32 is {use_tf32!r}: set it to false, true or "tf32"')
    layers = [owner.output_layer for chunk in model_chunks if (owner := resolve_output_layer_owner(chunk)) is not None]
    if not layers:
        _refuse_zero_wraps(model_chunks)
    for layer in layers:
        _refuse_unsupported(layer)
    for layer in layers:
        _wrap(layer, tf32=bool(use_tf32))
    return len(layers)


def apply_lm_head_mode(model_chunks: Sequence[nn.Module], mode: Fp32HeadMode) -> int:
    """Do what ``megatron_cfg.fp32_lm_head`` says: ``false`` changes nothing, ``true`` and ``"tf32"`` wrap.

    Returns:
        How many output layers were put into fp32.

    Raises:
        ValueError: a typo in the mode; otherwise as `apply_fp32_lm_head`.
    """
    if mode is False:
        return 0
    if mode is True or mode == "tf32":
        return apply_fp32_lm_head(model_chunks, use_tf32=mode == "tf32")
    raise ValueError(f'megatron_cfg.fp32_lm_head is {mode!r}: set it to false, true or "tf32"')


def remove_fp32_lm_head(model_chunks: Sequence[nn.Module]) -> int:
    """Give every output layer its own forward back; returns how many had been replaced."""
    removed = 0
    for chunk in model_chunks:
        owner = resolve_output_layer_owner(chunk)
        layer = None if owner is None else owner.output_layer
        wrapper = None if layer is None else layer.__dict__.get(_MARK)
        if wrapper is None or layer is None:
            continue
        del layer.__dict__["forward"], layer.__dict__[_MARK]
        if hasattr(layer, "gradient_accumulation_fusion"):
            layer.gradient_accumulation_fusion = wrapper.fusion_before
        removed += 1
    return removed


def pass_numerics_to_model_config(model_config: Any, megatron_cfg: MegatronConfig) -> None:
    """Carry ``megatron_cfg.fp32_residual_connection`` into the ``TransformerConfig``, before building.

    Off (the default) leaves the model's own setting alone.

    Raises:
        UnsupportedHeadError: it is on and this model configuration has no such field.
    """
    if not megatron_cfg.fp32_residual_connection:
        return
    if not hasattr(model_config, "fp32_residual_connection"):
        raise UnsupportedHeadError(
            f"megatron_cfg.fp32_residual_connection is true but {type(model_config).__name__} has no such "
            f"field: set it to false, or use a Megatron-Core whose TransformerConfig has it"
        )
    model_config.fp32_residual_connection = True


def _wrap(layer: Any, *, tf32: bool) -> None:
    """Replace one layer's forward, or change the mode of a replacement already there."""
    wrapper = layer.__dict__.get(_MARK)
    if wrapper is not None:
        wrapper.tf32 = tf32
        return
    wrapper = _Fp32Forward(layer, tf32=tf32)
    # Straight into the instance's dictionary: nn.Module's own bookkeeping must not see either.
    layer.__dict__[_MARK] = wrapper
    layer.__dict__["forward"] = wrapper
    if hasattr(layer, "gradient_accumulation_fusion"):
        layer.gradient_accumulation_fusion = False


def _refuse_zero_wraps(model_chunks: Sequence[nn.Module]) -> None:
    """Raise unless another pipeline stage is known to own the output layer."""
    stages = [[getattr(module, "post_process", None) for module in nested_chunks(chunk)] for chunk in model_chunks]
    if stages and all(False in values for values in stages):
        return
    classes = ", ".join(type(chunk).__name__ for chunk in model_chunks) or "no chunks at all"
    raise HeadNotFoundError(
        f"no output layer was found in any model chunk ({classes}), and not every chunk says post_process=False: "
        f"the trainer's head would stay in bf16 beside an fp32 rollout. Pass this rank's pipeline chunks, or "
        f"turn megatron_cfg.fp32_lm_head off"
    )


def _refuse_unsupported(layer: Any) -> None:
    """Raise for a layer whose own forward does more than the replacement."""
    name = type(layer).__name__
    missing = [field for field in ("skip_bias_add", "gather_output", "input_size") if not hasattr(layer, field)]
    if missing:
        raise UnsupportedHeadError(
            f"the output layer is a {name} without {', '.join(missing)}: an fp32 head is implemented for "
            f"Megatron-Core's ColumnParallelLinear"
        )
    refuse_quantized_layer(layer, "output_layer")
    if "forward" in layer.__dict__ and _MARK not in layer.__dict__:
        raise UnsupportedHeadError(f"something already replaced {name}.forward: apply the fp32 head before it")
    config = getattr(layer, "config", None)
    for holder, field in (
        (config, "defer_embedding_wgrad_compute"),
        (layer, "is_expert"),
        (layer, "disable_grad_reduce"),
    ):
        if getattr(holder, field, False):
            raise UnsupportedHeadError(f"the output layer has {field} set, which an fp32 head bypasses: turn one off")
