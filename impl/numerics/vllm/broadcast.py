"""A torch.distributed group of a trainer and vLLM's workers, beside vLLM's own groups, over which weights are sent.

Gloo on CPU and NCCL on CUDA. The trainer is rank 0 and keeps the rendezvous.
"""

from __future__ import annotations

import datetime as dt
import threading
from typing import TYPE_CHECKING, Any

import torch
from torch import distributed
from torch._C._distributed_c10d import PrefixStore, TCPStore

if TYPE_CHECKING:
    from collections.abc import Callable

HOST = "127.0.0.1"
TIMEOUT_S = 60.0


class BroadcastGroup:
    """One member's view of the group."""

    def __init__(self, store: Any, rank: int, size: int, device: torch.device, timeout_s: float) -> None:
        """Meet the other members; returns when all are there.

        Raises:
            RuntimeError: they did not come in time.
        """
        self.device = device
        shared = PrefixStore("weights", store)
        timeout = dt.timedelta(seconds=timeout_s)
        self._group: Any
        if device.type == "cuda":
            options = distributed.ProcessGroupNCCL.Options()
            options._timeout = timeout  # noqa: SLF001 - the only place where torch takes it
            self._group = distributed.ProcessGroupNCCL(shared, rank, size, options)
        else:
            self._group = distributed.ProcessGroupGloo(shared, rank, size, timeout)

    def start(self, tensor: torch.Tensor) -> Any:
        """Begin to broadcast rank 0's tensor; ``wait()`` on what comes back ends it."""
        options = distributed.BroadcastOptions()
        options.rootRank = 0
        return self._group.broadcast([tensor], options)


def join(host: str, port: int, rank: int, size: int, device: torch.device, timeout_s: float) -> BroadcastGroup:
    """Join a trainer's group from a worker."""
    timeout = dt.timedelta(seconds=timeout_s)
    store = TCPStore(host, port, size, is_master=False, timeout=timeout)
    return BroadcastGroup(store, rank, size, device, timeout_s)


class Sender:
    """The trainer's end."""

    def __init__(self, workers: int, device: str = "cpu", timeout_s: float = TIMEOUT_S) -> None:
        """Open the rendezvous on a free port.

        Args:
            workers: how many will join, as ranks 1 to ``workers``.
            device: of the tensors that are sent.
            timeout_s: how long either side waits for the other.
        """
        self.size, self.device, self.timeout_s = workers + 1, torch.device(device), timeout_s
        timeout = dt.timedelta(seconds=timeout_s)
        self._store = TCPStore(HOST, 0, self.size, is_master=True, timeout=timeout, wait_for_workers=False)
        self.port = int(self._store.port)
        self._group: BroadcastGroup | None = None

    def meet(self, let_workers_join: Callable[[], object]) -> None:
        """Form the group while ``let_workers_join`` brings the workers to it, from this process or another.

        Raises:
            RuntimeError: the group did not form.
        """
        errors: list[Exception] = []

        def connect() -> None:
            try:
                self._group = BroadcastGroup(self._store, 0, self.size, self.device, self.timeout_s)
            except Exception as error:  # noqa: BLE001 - raised again in the thread that waits for it
                errors.append(error)

        meeting = threading.Thread(target=connect)
        meeting.start()
        try:
            let_workers_join()
        finally:
            meeting.join()
        if errors:
            raise RuntimeError(f"the group of a trainer and {self.size - 1} workers did not form") from errors[0]

    def send(self, tensor: torch.Tensor, receive: Callable[[], object]) -> None:
        """Broadcast one tensor while ``receive`` lets every worker take it.

        Raises:
            RuntimeError: nobody met, or a worker did not take it.
        """
        if self._group is None:
            raise RuntimeError("no worker joined: call meet() first")
        sending = self._group.start(tensor.to(self.device).contiguous())
        receive()
        sending.wait()
