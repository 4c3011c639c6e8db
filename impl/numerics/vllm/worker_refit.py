"""Taking new weights in a worker: gathered first, then loaded at once, so that no request ever meets half of them.

What arrives is kept on the host until the update is complete, which costs one copy of it per worker. A stream that
breaks off leaves the old weights; a loading that fails leaves a worker that refuses to compute until a complete update.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import load, load_file

from impl.numerics.head_owner import unwrap
from impl.numerics.vllm import broadcast
from impl.numerics.vllm.head_copies import invalidate_copies, refresh_copies
from impl.numerics.vllm.mamba_views import follow_convolutions

if TYPE_CHECKING:
    from torch import nn


class MixedWeightsError(RuntimeError):
    """A worker holds old and new weights, and will not compute with them."""


class RefitWorker:
    """The part of vLLM's worker extension that takes weights. Called by name through ``collective_rpc``."""

    model_runner: Any
    vllm_config: Any
    rank: int
    _rlc_gathered: dict[str, torch.Tensor] | None = None
    _rlc_group: broadcast.BroadcastGroup | None = None

    @property
    def _rlc_model(self) -> nn.Module:
        return unwrap(self.model_runner.get_model())

    def rlc_begin(self) -> None:
        """Begin an update; what an earlier one had gathered and not loaded is dropped."""
        self._rlc_gathered = {}

    def rlc_gather(self, payload: bytes) -> None:
        """Transport 1: tensors in the call itself, as safetensors bytes, whole or in batches."""
        self._rlc_open().update(load(payload))

    def rlc_join(self, host: str, port: int, size: int, timeout_s: float, device: str) -> None:
        """Join a trainer's broadcast group; see `impl.numerics.vllm.broadcast`. ``device`` is where tensors arrive."""
        self._rlc_group = broadcast.join(host, port, 1 + self.rank, size, torch.device(device), timeout_s)

    def rlc_leave(self) -> None:
        """Leave the group, which closes its connections; the next update meets in another one."""
        self._rlc_group = None

    def rlc_receive(self, name: str, dtype: str, shape: list[int]) -> None:
        """Transport 2: one tensor that the trainer broadcasts now.

        Raises:
            RuntimeError: no group was joined, or the trainer was lost.
        """
        if self._rlc_group is None:
            raise RuntimeError("this worker joined no broadcast group: call rlc_join first")
        tensor = torch.empty(shape, dtype=getattr(torch, dtype), device=self._rlc_group.device)
        self._rlc_group.start(tensor).wait()
        self._rlc_open()[name] = tensor.cpu()

    def rlc_read(self, folder: str) -> None:
        """Transport 3: every ``*.safetensors`` of a folder.

        Raises:
            FileNotFoundError: there is none.
        """
        files = sorted(Path(folder).glob("*.safetensors"))
        if not files:
            raise FileNotFoundError(f"{folder} has no *.safetensors: there is nothing to refit from")
        for file in files:
            self._rlc_open().update(load_file(file))

    def rlc_load(self, *, complete: bool) -> None:
        """Load what was gathered, in checkpoint format, and bring everything that hangs on weights up to date.

        Args:
            complete: the update has every weight, so it ends what an earlier failure left.

        Raises:
            MixedWeightsError: it is not complete, and an earlier one failed.
        """
        gathered, self._rlc_gathered = self._rlc_open(), None
        self._rlc_refuse_part(complete=complete)
        try:
            self._rlc_reload(gathered)
        except BaseException:
            self.rlc_abandon()
            raise
        self.rlc_finish(complete=complete)

    def rlc_write(self, payload: bytes, *, complete: bool) -> None:
        """Write tensors in vLLM's own names and layout into the parameters, past all loading, where they differ.

        Raises:
            KeyError: no such parameter; nothing was written.
            ValueError: another shape; nothing was written.
            MixedWeightsError: as `rlc_load`.
        """
        self._rlc_refuse_part(complete=complete)
        parameters = dict(self._rlc_model.named_parameters(remove_duplicate=False))
        targets = {}
        for name, tensor in load(payload).items():
            if name not in parameters:
                raise KeyError(f"{type(self._rlc_model).__name__} has no parameter {name!r}")
            target = parameters[name].data[: len(tensor)]
            if target.shape != tensor.shape:
                raise ValueError(f"{name} is {tuple(target.shape)} here and {tuple(tensor.shape)} in the update")
            targets[name] = (target, tensor.to(target.device))
        for target, tensor in targets.values():
            changed = target != tensor
            target[changed] = tensor[changed]
        self.rlc_finish(complete=complete)

    def rlc_finish(self, *, complete: bool) -> None:
        """End an update, whoever carried it: vLLM's own ``reload_weights`` too.

        Raises:
            StaleHeadError: an fp32 copy does not equal its head.
        """
        follow_convolutions(self._rlc_model)
        invalidate_copies()
        refresh_copies()
        if complete:
            self._rlc_model.__dict__.pop("rlc_mixed", None)
            if self._rlc_model.__dict__.get("compute_logits") is _refuse:
                del self._rlc_model.__dict__["compute_logits"]

    def rlc_usable(self) -> bool:
        """Whether this worker holds whole weights."""
        return not self._rlc_model.__dict__.get("rlc_mixed")

    def rlc_abandon(self) -> None:
        """After a loading that failed: let vLLM put its parameters back together, and refuse to compute with them."""
        from vllm.model_executor.model_loader.reload import finalize_layerwise_reload  # noqa: PLC0415 - workers only

        try:
            finalize_layerwise_reload(self._rlc_model, self.vllm_config.model_config)
        finally:
            invalidate_copies()
            self._rlc_model.__dict__["rlc_mixed"] = True
            object.__setattr__(self._rlc_model, "compute_logits", _refuse)

    def _rlc_reload(self, weights: dict[str, torch.Tensor]) -> None:
        worker: Any = self
        worker.reload_weights(weights_iterator=iter(weights.items()))

    def _rlc_refuse_part(self, *, complete: bool) -> None:
        if not complete and self._rlc_model.__dict__.get("rlc_mixed"):
            raise MixedWeightsError("an earlier refit failed half way: send all weights")

    def _rlc_open(self) -> dict[str, torch.Tensor]:
        if self._rlc_gathered is None:
            raise RuntimeError("no update has begun in this worker: call rlc_begin first")
        return self._rlc_gathered


def _refuse(*_arguments: Any, **_options: Any) -> Any:
    """Stands where ``compute_logits`` was."""
    raise MixedWeightsError("a refit failed and left old and new weights mixed: refit all weights before any request")
