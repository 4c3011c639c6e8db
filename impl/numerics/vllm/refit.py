"""Sending new weights to vLLM's workers, by every way there is.

``direct``      all tensors in ``collective_rpc`` calls
``collective``  one tensor after the other, broadcast over a torch.distributed group
``file``        a checkpoint's files, read by the workers
``checkpoint``  the same files through vLLM's own ``reload_weights``
``delta``       what differs, written into the parameters past all loading
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors.torch import save, save_file

from impl.numerics.vllm.broadcast import HOST, Sender

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from impl.numerics.checkpoint import State
    from impl.numerics.vllm.body import Body

TRANSPORTS = ("direct", "collective", "file", "checkpoint", "delta")


class Refit:
    """Carries updates to one engine's workers."""

    def __init__(self, llm: Any, body: Body, device: str = "cpu") -> None:
        """Carry updates to an engine.

        Args:
            llm: vLLM's own object.
            body: the model's architecture.
            device: over which tensors are broadcast: gloo on ``cpu``, NCCL on ``cuda``, where trainer and workers
                need a GPU each.
        """
        self._llm, self._body, self._device = llm, body, device
        self._sender: Sender | None = None

    def carry(
        self,
        state: State,
        *,
        transport: str,
        order: Sequence[str],
        complete: bool,
        between: Callable[[], None] | None = None,
    ) -> None:
        """Carry one update; the prefix cache is the caller's.

        Args:
            state: new weights under Hugging Face names.
            transport: one of `TRANSPORTS`.
            order: in which they are sent (``collective``).
            complete: these are all weights of the model.
            between: called after each that was sent (``collective``).
        """
        if transport == "delta":
            self._call("rlc_write", save(self._body.to_vllm(state)), complete=complete)
        elif transport == "checkpoint":
            self._reload(state, complete=complete)
        else:
            self._call("rlc_begin")
            if transport == "direct":
                self._call("rlc_gather", save(state))
            elif transport == "collective":
                self._broadcast(state, order, between)
            else:
                with tempfile.TemporaryDirectory() as folder:
                    save_file(state, Path(folder) / "model.safetensors", {"format": "pt"})
                    self._call("rlc_read", folder)
            self._call("rlc_load", complete=complete)

    def _broadcast(self, state: State, order: Sequence[str], between: Callable[[], None] | None) -> None:
        """Send one weight at a time; what `between` raises ends the stream and leaves the workers on the old ones."""
        sender = self._sender
        if sender is None:
            sender = Sender(len(self._call("rlc_parameters")), self._device)
            at = (HOST, sender.port, sender.size, sender.timeout_s, self._device)
            sender.meet(lambda: self._call("rlc_join", *at))
            self._sender = sender
        for name in order:
            tensor = state[name]
            dtype, shape = str(tensor.dtype).removeprefix("torch."), list(tensor.shape)
            try:
                sender.send(tensor, lambda n=name, d=dtype, s=shape: self._call("rlc_receive", n, d, s))  # type: ignore[misc]  # lambda defaults
            except BaseException:
                # Its members may be a tensor apart. The workers go first: what nobody took is then not waited for.
                self._sender = None
                self._call("rlc_leave")
                raise
            if between is not None:
                between()

    def _reload(self, state: State, *, complete: bool) -> None:
        with tempfile.TemporaryDirectory() as folder:
            save_file(state, Path(folder) / "model.safetensors", {"format": "pt"})
            try:
                # An engine that started on dummy weights would make up more of them.
                self._call("update_config", {"load_config": {"load_format": "auto"}})
                self._call("reload_weights", weights_path=folder)
            except BaseException:
                self._call("rlc_abandon")
                raise
        self._call("rlc_finish", complete=complete)

    def _call(self, method: str, *arguments: Any, **options: Any) -> list[Any]:
        return list(self._llm.collective_rpc(method, args=arguments, kwargs=options))
