"""What runs inside vLLM's workers, called by name through ``collective_rpc``. All public names begin with ``rlc_``.

Tensors cross as safetensors bytes, which every version of vLLM's message encoding carries.
"""

from __future__ import annotations

import os
from typing import Any

from safetensors.torch import save

from impl.numerics.head_owner import resolve_lm_head_owner
from impl.numerics.matmul_precision import matmul_flags
from impl.numerics.vllm import plugin
from impl.numerics.vllm.head_copies import existing_copy, invalidate_copies
from impl.numerics.vllm.proof import is_last_pipeline_stage, prove_fp32_head
from impl.numerics.vllm.recording import Recorder, in_order
from impl.numerics.vllm.switch import STRATEGY, SWITCH
from impl.numerics.vllm.worker_refit import RefitWorker


class PluginNotLoadedError(RuntimeError):
    """The fp32 head was asked for, and this worker's process has nothing that computes it."""


class HeadWorker(RefitWorker):
    """vLLM's ``worker_extension_cls``: reading a worker's model, refitting it, and proving its head."""

    _rlc_recorder: Recorder | None = None

    def rlc_parameters(self) -> dict[str, str]:
        """Names and dtypes of this rank's parameters, as vLLM calls them."""
        return {name: str(p.dtype).removeprefix("torch.") for name, p in self._rlc_model.named_parameters()}

    def rlc_state(self) -> bytes:
        """This rank's state dict as safetensors bytes."""
        state = dict(self._rlc_model.state_dict())
        for name, module in self._rlc_model.named_modules():
            if hasattr(module, "_cpu_unpacked_conv_weight"):
                state[f"{name}.weight"] = module._cpu_unpacked_conv_weight[:, None]  # noqa: SLF001 - the only original
        payload: bytes = save({name: tensor.detach().cpu().clone().contiguous() for name, tensor in state.items()})
        return payload

    def rlc_process(self) -> int:
        """This worker's process."""
        return os.getpid()

    def rlc_matmul_flags(self) -> dict[str, str]:
        """Torch's precision settings in this process."""
        return matmul_flags()

    def rlc_record(self) -> None:
        """Begin to record what goes into the head and what comes out."""
        self._rlc_recorder = Recorder(self._rlc_model)
        self._rlc_recorder.open()

    def rlc_recorded(self) -> bytes:
        """Stop recording; ``hidden`` and ``logits`` of one prompt by position, as safetensors bytes.

        Empty on a rank that gathers no logits.
        """
        if self._rlc_recorder is None:
            raise RuntimeError("nothing is recorded: call rlc_record() before the request")
        recorder, self._rlc_recorder = self._rlc_recorder, None
        calls = recorder.close()
        if not calls:
            return b""
        hidden, logits = in_order(calls)
        payload: bytes = save({"hidden": hidden.contiguous(), "logits": logits.contiguous()})
        return payload

    def rlc_prove(self, strategy: str) -> dict[str, Any]:
        """Prove the fp32 head in this worker: that the strategy is installed here, and what the logits are.

        Raises:
            PluginNotLoadedError: it is not installed.
            Fp32HeadError: the logits are not fp32; see `prove_fp32_head` for what else.
        """
        installed = plugin.installed_strategy()
        if installed != strategy:
            raise PluginNotLoadedError(
                f"the fp32 lm_head ({strategy}) is not installed in vLLM's worker process {os.getpid()}, which has "
                f"{installed or 'nothing'} ({SWITCH}={os.environ.get(SWITCH)!r}, {STRATEGY}="
                f"{os.environ.get(STRATEGY)!r}, VLLM_PLUGINS={os.environ.get('VLLM_PLUGINS')!r}): give these variables "
                f"to the engine's processes, install rl-contracts in their environment, and let VLLM_PLUGINS include "
                f"{plugin.NAME}"
            )
        found = prove_fp32_head(self._rlc_model, strategy) if is_last_pipeline_stage() else None
        return {} if found is None else {"dtype": found.dtype, "on_bf16_grid": found.on_bf16_grid}

    def rlc_copy(self) -> dict[str, int | None]:
        """Address and bytes of the fp32 copy; the address is None where there is no copy, or not yet."""
        copy = existing_copy(resolve_lm_head_owner(self._rlc_model).get_submodule("lm_head"))
        if copy is None:
            return {"address": None, "bytes": 0}
        return {"address": copy.storage_address, "bytes": copy.bytes_held}

    def rlc_fill_padding(self, value: float) -> int:
        """Write a number into the head's padding rows, which nothing may read; returns how many there are."""
        lm_head: Any = resolve_lm_head_owner(self._rlc_model).get_submodule("lm_head")
        padding = lm_head.weight.data[lm_head.org_vocab_size :]
        padding.fill_(value)
        invalidate_copies()
        return len(padding)
