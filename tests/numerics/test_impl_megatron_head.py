"""The trainer's head on a layer of Megatron's shape; on Megatron-Core itself see test_engine_megatron.py."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from impl.numerics.config import MegatronConfig
from impl.numerics.head_owner import HeadNotFoundError, QuantizedHeadError
from impl.numerics.megatron.head import (
    UnsupportedHeadError,
    apply_fp32_lm_head,
    apply_lm_head_mode,
    pass_numerics_to_model_config,
    remove_fp32_lm_head,
)

HIDDEN, VOCAB = 64, 96


class ColumnParallel(nn.Module):
    """The attributes and the forward of Megatron's ColumnParallelLinear on one rank."""

    def __init__(self, *, bias: bool = False, skip_bias_add: bool = False, own_weight: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(VOCAB, HIDDEN).bfloat16()) if own_weight else None
        self.register_parameter("bias", nn.Parameter(torch.randn(VOCAB).bfloat16()) if bias else None)
        self.skip_bias_add = skip_bias_add
        self.gather_output = self.sequence_parallel = False
        self.gradient_accumulation_fusion = True
        self.input_size, self.output_size, self.output_size_per_partition = HIDDEN, VOCAB, VOCAB
        self.config = SimpleNamespace(defer_embedding_wgrad_compute=False)

    def forward(self, input_: torch.Tensor, weight: torch.Tensor = None, runtime_gather_output: Any = None) -> Any:
        del runtime_gather_output
        out = functional.linear(input_, self.weight if weight is None else weight)
        if self.bias is not None and not self.skip_bias_add:
            out = out + self.bias
        return out, (self.bias if self.skip_bias_add else None)


class Chunk(nn.Module):
    def __init__(self, *, post_process: bool = True, layer: nn.Module | None = None) -> None:
        super().__init__()
        self.post_process = post_process
        if layer is not None:
            self.output_layer = layer


class Nest(nn.Module):
    """Holds the language model under one name, as wrappers and multimodal models do."""

    def __init__(self, name: str, inner: nn.Module, **attributes: Any) -> None:
        super().__init__()
        setattr(self, name, inner)
        for key, value in attributes.items():
            setattr(self, key, value)


@pytest.fixture
def hidden() -> Any:
    torch.manual_seed(1)
    return torch.randn(7, 2, HIDDEN).bfloat16().requires_grad_()


@pytest.mark.parametrize(
    "path",
    [
        (),
        ("module",),
        ("module", "module"),
        ("language_model",),
        ("thinker",),
        ("llava_model", "language_model"),
        ("module", "llava_model", "language_model"),
        ("module", "thinker", "language_model"),
    ],
    ids=".".join,
)
def test_the_output_layer_is_found_in_every_nesting(path: tuple[str, ...], hidden: torch.Tensor) -> None:
    model = Chunk(layer=ColumnParallel())
    for name in reversed(path):
        model = Nest(name, model)
    assert apply_fp32_lm_head([model]) == 1
    for name in path:
        model = getattr(model, name)
    assert model.output_layer(hidden)[0].dtype == torch.float32


def test_a_last_stage_without_output_layer_names_its_class() -> None:
    class NewWrapper(Chunk):
        pass

    with pytest.raises(HeadNotFoundError, match="NewWrapper has post_process set"):
        apply_fp32_lm_head([Chunk(layer=ColumnParallel()), NewWrapper()])


def test_the_inner_class_is_named_where_the_wrapper_hides_it() -> None:
    with pytest.raises(HeadNotFoundError, match=r"Chunk has post_process set.*Nest > Chunk"):
        apply_fp32_lm_head([Nest("module", Chunk())])


def test_earlier_pipeline_stages_are_left_alone() -> None:
    assert apply_fp32_lm_head([Chunk(post_process=False)]) == 0
    assert apply_fp32_lm_head([Chunk(post_process=False), Chunk(layer=ColumnParallel())]) == 1


@pytest.mark.parametrize("chunks", [[], [nn.Linear(2, 2)], [Nest("tower", Chunk(layer=ColumnParallel()))]])
def test_zero_wraps_where_one_should_have_been_is_an_error(chunks: list[nn.Module]) -> None:
    with pytest.raises(HeadNotFoundError, match="no output layer was found in any"):
        apply_fp32_lm_head(chunks)


def test_an_error_in_one_chunk_leaves_the_others_unwrapped(hidden: torch.Tensor) -> None:
    good, bad = Chunk(layer=ColumnParallel()), Chunk(layer=nn.Linear(2, 2))
    with pytest.raises(UnsupportedHeadError, match="Linear"):
        apply_fp32_lm_head([good, bad])
    assert good.output_layer(hidden)[0].dtype == torch.bfloat16


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.float8_e4m3fn])
def test_a_quantized_weight_is_refused(dtype: torch.dtype) -> None:
    layer = ColumnParallel()
    layer.weight = nn.Parameter(torch.zeros(VOCAB, HIDDEN).to(dtype), requires_grad=False)
    with pytest.raises(QuantizedHeadError, match="quantiz"):
        apply_fp32_lm_head([Chunk(layer=layer)])


def test_a_quantizer_beside_a_plain_weight_is_refused() -> None:
    layer = ColumnParallel()
    layer.weight_scale = nn.Parameter(torch.ones(VOCAB))
    with pytest.raises(QuantizedHeadError, match="weight_scale"):
        apply_fp32_lm_head([Chunk(layer=layer)])


@pytest.mark.parametrize("field", ["defer_embedding_wgrad_compute", "is_expert", "disable_grad_reduce"])
def test_what_only_the_own_forward_does_is_refused(field: str) -> None:
    layer = ColumnParallel()
    setattr(layer.config if field.startswith("defer") else layer, field, True)
    with pytest.raises(UnsupportedHeadError, match=field):
        apply_fp32_lm_head([Chunk(layer=layer)])


def test_a_forward_replaced_by_others_is_not_silently_dropped() -> None:
    layer = ColumnParallel()
    layer.forward = layer.forward
    with pytest.raises(UnsupportedHeadError, match="already replaced"):
        apply_fp32_lm_head([Chunk(layer=layer)])


@pytest.mark.parametrize("mode", [True, "tf32"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("skip_bias_add", [False, True])
def test_output_and_bias_follow_the_layers_contract(
    hidden: torch.Tensor, *, mode: bool | str, bias: bool, skip_bias_add: bool
) -> None:
    layer = ColumnParallel(bias=bias, skip_bias_add=skip_bias_add)
    apply_lm_head_mode([Chunk(layer=layer)], mode)
    logits, returned = layer(hidden)
    assert (returned is layer.bias) if skip_bias_add else (returned is None)
    added = layer.bias.double() if bias and not skip_bias_add else 0.0
    exact = hidden.double() @ layer.weight.double().t() + added
    assert logits.dtype == torch.float32
    assert (logits - exact).abs().max() < HIDDEN * 2**-24 * exact.abs().max() * 4


def test_a_tied_weight_is_passed_in_and_gets_the_gradient(hidden: torch.Tensor) -> None:
    layer, embedding = ColumnParallel(own_weight=False), nn.Parameter(torch.randn(VOCAB, HIDDEN).bfloat16())
    apply_fp32_lm_head([Chunk(layer=layer)])
    torch.logsumexp(layer(hidden, weight=embedding)[0], -1).sum().backward()
    assert embedding.grad.dtype == torch.bfloat16
    assert embedding.grad.abs().max() > 0
    with pytest.raises(ValueError, match="pass weight="):
        layer(hidden)
    with pytest.raises(ValueError, match=r"\(96, 64\)"):
        layer(hidden, weight=embedding[:5])
    with pytest.raises(QuantizedHeadError):
        layer(hidden, weight=embedding.detach().to(torch.float8_e4m3fn))


def test_parameters_and_state_dict_are_untouched_and_interchange(hidden: torch.Tensor) -> None:
    plain, wrapped = Chunk(layer=ColumnParallel(bias=True)), Chunk(layer=ColumnParallel(bias=True))
    before = {name: (p.dtype, p.shape, id(p)) for name, p in wrapped.named_parameters()}
    apply_fp32_lm_head([wrapped])
    wrapped.output_layer(hidden)
    assert {name: (p.dtype, p.shape, id(p)) for name, p in wrapped.named_parameters()} == before
    assert wrapped.state_dict().keys() == plain.state_dict().keys()
    wrapped.load_state_dict(plain.state_dict())
    plain.load_state_dict(wrapped.state_dict())
    for name, tensor in wrapped.state_dict().items():
        assert torch.equal(tensor, plain.state_dict()[name])


def test_gradient_accumulation_fusion_is_off_while_wrapped() -> None:
    model = Chunk(layer=ColumnParallel())
    apply_fp32_lm_head([model])
    assert model.output_layer.gradient_accumulation_fusion is False
    remove_fp32_lm_head([model])
    assert model.output_layer.gradient_accumulation_fusion is True


def test_applying_twice_is_applying_once_and_removing_restores(hidden: torch.Tensor) -> None:
    model = Chunk(layer=ColumnParallel())
    untouched = model.output_layer(hidden)[0]
    dictionary = set(model.output_layer.__dict__)
    assert apply_fp32_lm_head([model]) == apply_fp32_lm_head([model], use_tf32=True) == 1
    assert remove_fp32_lm_head([model]) == 1
    assert remove_fp32_lm_head([model]) == 0
    assert set(model.output_layer.__dict__) == dictionary
    assert torch.equal(model.output_layer(hidden)[0], untouched)


def test_mode_false_changes_nothing(hidden: torch.Tensor) -> None:
    model = Chunk(layer=ColumnParallel())
    untouched = model.output_layer(hidden)[0]
    assert apply_lm_head_mode([model], mode=False) == 0
    assert model.output_layer(hidden)[0].dtype == torch.bfloat16
    assert torch.equal(model.output_layer(hidden)[0], untouched)


@pytest.mark.parametrize("mode", ["TF32", "true", "", None, 2])
def test_a_typo_in_the_mode_is_an_error_before_any_wrap(*, mode: bool | str) -> None:
    model = Chunk(layer=ColumnParallel())
    with pytest.raises(ValueError, match='false, true or "tf32"'):
        apply_lm_head_mode([model], mode)
    with pytest.raises(ValueError, match='false, true or "tf32"'):
        apply_fp32_lm_head([model], use_tf32=mode)
    assert "forward" not in model.output_layer.__dict__


@pytest.mark.parametrize(("asked", "found"), [(True, True), (False, False)])
def test_the_residual_connection_is_passed_through(*, asked: bool, found: bool) -> None:
    config = SimpleNamespace(fp32_residual_connection=False)
    pass_numerics_to_model_config(config, MegatronConfig(fp32_residual_connection=asked))
    assert config.fp32_residual_connection is found


def test_the_residual_connection_left_off_keeps_the_models_own_setting() -> None:
    config = SimpleNamespace(fp32_residual_connection=True)
    pass_numerics_to_model_config(config, MegatronConfig())
    assert config.fp32_residual_connection is True


def test_the_residual_connection_on_a_model_without_it_is_an_error() -> None:
    with pytest.raises(UnsupportedHeadError, match="fp32_residual_connection"):
        pass_numerics_to_model_config(SimpleNamespace(), MegatronConfig(fp32_residual_connection=True))
