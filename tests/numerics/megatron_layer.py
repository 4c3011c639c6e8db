"""One rank of a real Megatron-Core layer with the fp32 head; run by test_engine_megatron.py, one process a rank.

Prints one JSON line: for every way in which Megatron calls its output layer, how far the fp32 head's output and
gradients are from fp64.
"""

from __future__ import annotations

import itertools
import json
import sys
from typing import Any

import torch
from megatron.core import parallel_state
from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig
from megatron.core.tensor_parallel import ColumnParallelLinear
from megatron.core.transformer.module import Float16Module
from megatron.core.transformer.transformer_config import TransformerConfig

from impl.numerics.config import MegatronConfig
from impl.numerics.head_owner import resolve_output_layer_owner
from impl.numerics.megatron.head import apply_fp32_lm_head, pass_numerics_to_model_config
from impl.numerics.megatron.model import start_group

SEQUENCE, BATCH, HIDDEN, VOCAB = 8, 2, 64, 96


class LastStage(torch.nn.Module):
    """A last pipeline stage that is nothing but its output layer."""

    post_process = True

    def __init__(self, layer: torch.nn.Module) -> None:
        super().__init__()
        self.output_layer = layer

    def forward(self, hidden: torch.Tensor, *rest: Any) -> torch.Tensor:
        del rest
        logits: torch.Tensor = self.output_layer(hidden)[0]
        return logits

    def set_input_tensor(self, _tensor: torch.Tensor) -> None:
        """Megatron's wrappers ask for it."""


def config(size: int, *, sequence_parallel: bool) -> TransformerConfig:
    return TransformerConfig(
        num_layers=1,
        hidden_size=HIDDEN,
        num_attention_heads=4,
        tensor_model_parallel_size=size,
        sequence_parallel=sequence_parallel and size > 1,
        use_cpu_initialization=True,
        params_dtype=torch.bfloat16,
        bf16=True,
        gradient_accumulation_fusion=False,
    )


def relative(found: torch.Tensor, wanted: torch.Tensor) -> float:
    return float((found.double() - wanted).norm() / wanted.norm())


def one_way(rank: int, size: int, *, sequence_parallel: bool, skip_bias: bool, gather: bool, tied: bool) -> Any:
    layer = ColumnParallelLinear(
        HIDDEN,
        VOCAB,
        config=config(size, sequence_parallel=sequence_parallel),
        init_method=torch.nn.init.normal_,
        bias=True,
        skip_bias_add=skip_bias,
        gather_output=gather,
        skip_weight_param_allocation=tied,
    )
    torch.manual_seed(1)
    whole = torch.randn(VOCAB, HIDDEN).bfloat16()
    bias = torch.randn(VOCAB).bfloat16()
    hidden = torch.randn(SEQUENCE, BATCH, HIDDEN).bfloat16()
    upstream = torch.randn(SEQUENCE, BATCH, VOCAB)
    part = slice(rank * VOCAB // size, (rank + 1) * VOCAB // size)
    weight = torch.nn.Parameter(whole[part].clone())
    layer.bias.data.copy_(bias[part])
    if not tied:
        layer.weight = weight
    mine = hidden.chunk(size)[rank] if layer.sequence_parallel else hidden
    mine = mine.clone().requires_grad_()
    given = {"weight": weight} if tied else {}
    plain = layer(mine, **given)
    apply_fp32_lm_head([LastStage(layer)])
    logits, returned = layer(mine, **given)
    columns = slice(None) if gather else part
    exact = hidden.double() @ whole.double().t() + (0 if skip_bias else bias.double())
    # Every rank computes the loss of what it has; a gathered output is the whole loss on each.
    (logits * upstream[..., columns]).sum().backward()
    grad_hidden = upstream.double() @ whole.double()
    grad_weight = (upstream.reshape(-1, VOCAB).double().t() @ hidden.reshape(-1, HIDDEN).double())[part]
    return {
        "dtype": str(logits.dtype),
        "shape_kept": plain[0].shape == logits.shape and (plain[1] is None) == (returned is None),
        "logits": relative(logits.detach(), exact[..., columns]),
        "grad_hidden": relative(mine.grad, grad_hidden.chunk(size)[rank] if layer.sequence_parallel else grad_hidden),
        "grad_weight": relative(weight.grad, grad_weight),
        "grad_dtypes": sorted({str(mine.grad.dtype), str(weight.grad.dtype)}),
        "sharded_keys": sorted(layer.sharded_state_dict(metadata={"dp_cp_group": None})),
    }


def behind_wrappers(size: int) -> dict[str, Any]:
    """Float16Module and Megatron's DDP around the layer: the gradient must arrive in main_grad."""
    cfg = config(size, sequence_parallel=False)
    layer = ColumnParallelLinear(HIDDEN, VOCAB, config=cfg, init_method=torch.nn.init.normal_, bias=False)
    settings = DistributedDataParallelConfig(grad_reduce_in_fp32=True, overlap_grad_reduce=False)
    model = DistributedDataParallel(cfg, settings, Float16Module(cfg, LastStage(layer)), disable_bucketing=True)
    owner = resolve_output_layer_owner(model)
    wrapped = apply_fp32_lm_head([model])
    hidden = torch.randn(SEQUENCE, BATCH, HIDDEN).bfloat16()
    model.zero_grad_buffer()
    logits = model(hidden)
    logits.square().sum().backward()
    rows = 2 * (hidden.double() @ layer.weight.detach().double().t()).reshape(-1, layer.weight.shape[0])
    exact = rows.t() @ hidden.reshape(-1, HIDDEN).double()
    return {
        "owner": type(owner).__name__,
        "wrapped": wrapped,
        "dtype": str(logits.dtype),
        "main_grad": relative(layer.weight.main_grad, exact),
        "main_grad_dtype": str(layer.weight.main_grad.dtype),
    }


def residual(size: int) -> dict[str, bool]:
    """What ``fp32_residual_connection`` is in the model's configuration, for both settings."""
    found = {}
    for asked in (False, True):
        cfg = config(size, sequence_parallel=False)
        pass_numerics_to_model_config(cfg, MegatronConfig(fp32_residual_connection=asked))
        found[str(asked)] = cfg.fp32_residual_connection
    return found


def main() -> None:
    rank, size, rendezvous = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    start_group(rank, size, rendezvous)
    assert parallel_state.get_tensor_model_parallel_world_size() == size
    names = ("sequence_parallel", "skip_bias", "gather", "tied")
    found = []
    for values in itertools.product((False, True), repeat=4):
        way = dict(zip(names, values, strict=True))
        if way["sequence_parallel"] and size == 1:
            continue
        found.append({"way": way, **one_way(rank, size, **way)})
    print(json.dumps({"ways": found, "wrapped": behind_wrappers(size), "residual": residual(size)}))  # noqa: T201 - its answer
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
