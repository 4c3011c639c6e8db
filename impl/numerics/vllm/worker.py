"""What runs inside vLLM's workers, called by name through ``collective_rpc``. All public names begin with ``rlc_``.

Tensors cross as safetensors bytes, which every version of vLLM's message encoding carries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from safetensors.torch import load, save

from impl.numerics.head_owner import unwrap
from impl.numerics.matmul_precision import matmul_flags
from impl.numerics.vllm.recording import Recorder, in_order

if TYPE_CHECKING:
    from torch import nn


class HeadWorker:
    """vLLM's ``worker_extension_cls``: reading a worker's model, refitting it, and proving its head."""

    model_runner: Any
    reload_weights: Any
    _rlc_recorder: Recorder | None = None

    @property
    def _rlc_model(self) -> nn.Module:
        return unwrap(self.model_runner.get_model())

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

    def rlc_matmul_flags(self) -> dict[str, str]:
        """Torch's precision settings in this process."""
        return matmul_flags()

    def rlc_record(self) -> None:
        """Begin to record what goes into the head and what comes out."""
        self._rlc_recorder = Recorder(self._rlc_model)
        self._rlc_recorder.open()

    def rlc_recorded(self) -> bytes:
        """Stop recording; ``hidden`` and ``logits`` of one prompt by position, as safetensors bytes."""
        if self._rlc_recorder is None:
            raise RuntimeError("nothing is recorded: call rlc_record() before the request")
        recorder, self._rlc_recorder = self._rlc_recorder, None
        hidden, logits = in_order(recorder.close())
        payload: bytes = save({"hidden": hidden.contiguous(), "logits": logits.contiguous()})
        return payload

    def rlc_load(self, payload: bytes) -> None:
        """Load weights under Hugging Face names from safetensors bytes."""
        self.reload_weights(weights_iterator=iter(load(payload).items()))
