"""Runs in a process of its own on the Python files of a vLLM from before ``head_dtype``; prints what its head computes.

The compiled part of an old vLLM fits no newer torch, so no engine starts; its own NemotronH class, head and logits
processor do run.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
import vllm
from torch import nn
from vllm.config import VllmConfig, set_current_vllm_config
from vllm.distributed import init_distributed_environment, initialize_model_parallel

from impl.numerics.vllm import head_copies, plugin
from impl.numerics.vllm.installed import NEMOTRON_H
from impl.numerics.vllm.switch import STRATEGY, SWITCH

VOCAB, HIDDEN = 500, 64


def a_model(weight: torch.Tensor) -> Any:
    """An old NemotronH with a head and no body, patched as its file is now."""
    from vllm.model_executor.layers.logits_processor import LogitsProcessor  # noqa: PLC0415 - after the patch
    from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead  # noqa: PLC0415 - as above
    from vllm.model_executor.models.nemotron_h import NemotronHForCausalLM  # noqa: PLC0415 - as above

    model: Any = NemotronHForCausalLM.__new__(NemotronHForCausalLM)
    nn.Module.__init__(model)
    model.lm_head = ParallelLMHead(VOCAB, HIDDEN, params_dtype=torch.bfloat16)
    model.logits_processor = LogitsProcessor(VOCAB, soft_cap=30.0)
    model.lm_head.weight.weight_loader(model.lm_head.weight, weight)
    model.lm_head.quant_method.process_weights_after_loading(model.lm_head)
    return model


def exact(hidden: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The same in fp64."""
    return 30.0 * torch.tanh(hidden.double() @ weight.double().T / 30.0)


@torch.no_grad()
def main(rendezvous: str) -> dict[str, Any]:
    """Compute logits on, after a load, and off."""
    with set_current_vllm_config(VllmConfig()):
        init_distributed_environment(1, 0, f"file://{rendezvous}", 0, "gloo")
        initialize_model_parallel(1)
        os.environ.update({SWITCH: "1", STRATEGY: ""})
        plugin.register()
        generator = torch.Generator().manual_seed(0)
        old, new = (torch.randn(VOCAB, HIDDEN, generator=generator).bfloat16() for _ in range(2))
        hidden = torch.randn(5, HIDDEN, generator=generator).bfloat16()
        model = a_model(old)
        on = model.compute_logits(hidden)
        address = head_copies.copy_of(model.lm_head).storage_address
        model.lm_head.weight.weight_loader(model.lm_head.weight, new)
        after = model.compute_logits(hidden)
        moved = head_copies.copy_of(model.lm_head).storage_address != address
        plugin.uninstall()
        os.environ[SWITCH] = "0"
        off = model.compute_logits(hidden)
        untouched = model.logits_processor(model.lm_head, hidden)
        os.environ[SWITCH] = "1"
        try:
            model.compute_logits(hidden)
        except RuntimeError as error:
            refused = str(error)
    return {
        "version": vllm.__version__,
        "file": str(Path(vllm.__file__).parent / NEMOTRON_H),
        "dtypes": [str(logits.dtype) for logits in (on, after, off)],
        "shape": list(on.shape),
        "error": float((on - exact(hidden, old)).abs().max()),
        "error_after_load": float((after - exact(hidden, new)).abs().max()),
        "copy_moved": moved,
        "off_is_untouched": torch.equal(off, untouched),
        "without_plugin": refused,
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))  # noqa: T201 - read by the test
