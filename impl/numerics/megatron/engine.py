"""Real Megatron-Core as an engine: a group of worker processes, and a handle that looks like one engine."""

from __future__ import annotations

import multiprocessing
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from impl.numerics.answers import EngineStateError, Gradients, Prefill, arrays_of, gradients_of, prefill_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from multiprocessing.connection import Connection

    from numpy.typing import NDArray

    from impl.numerics.checkpoint import HeadShape
    from impl.numerics.config import MegatronConfig
    from impl.numerics.megatron.body import Body


def _serve(rank: int, size: int, rendezvous: str, pipe: Connection) -> None:
    """A worker's whole life: build models, call their methods, send back results or errors."""
    from impl.numerics.megatron import model as megatron_model  # noqa: PLC0415 - Megatron belongs in the workers only

    megatron_model.start_group(rank, size, rendezvous)
    models: dict[int, Any] = {}
    while True:
        key, method, arguments = pipe.recv()
        if method == "stop":
            break
        try:
            answer: Any = None
            if method == "build":
                models[key] = megatron_model.MegatronModel(*arguments)
            elif method == "drop":
                models.pop(key, None)
            elif method == "load":
                models[key].load(rank, *arguments)
            else:
                answer = getattr(models[key], method)(*arguments)
            pipe.send((True, answer))
        except Exception as error:  # noqa: BLE001 - it is raised again on the other end of the pipe
            pipe.send((False, error))
    torch.distributed.destroy_process_group()


class MegatronGroup:
    """Worker processes that form one tensor-parallel group; started at the first call."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._workers: list[tuple[Any, Connection]] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._built = 0

    def build(self, *arguments: Any) -> int:
        """Build a model on every rank; returns its key."""
        self._built += 1
        self.call(self._built, "build", *arguments)
        return self._built

    def call(self, key: int, method: str, *arguments: Any) -> list[Any]:
        """Call a method on every rank and return the answers by rank.

        Raises:
            Exception: what the first failing rank raised.
        """
        if not self._workers:
            self._start()
        for _, pipe in self._workers:
            pipe.send((key, method, arguments))
        answers = [pipe.recv() for _, pipe in self._workers]
        for succeeded, answer in answers:
            if not succeeded:
                raise answer
        return [answer for _, answer in answers]

    def close(self) -> None:
        """Stop the workers."""
        for process, pipe in self._workers:
            pipe.send((0, "stop", ()))
            process.join(timeout=30)
            if process.is_alive():
                process.kill()
                process.join()
            pipe.close()
        self._workers = []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._folder = tempfile.TemporaryDirectory()
        rendezvous = str(Path(self._folder.name) / "rendezvous")
        for rank in range(self.size):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(rank, self.size, rendezvous, theirs), daemon=True)
            process.start()
            theirs.close()
            self._workers.append((process, ours))


class MegatronEngine:
    """One model in a group, with the methods of an engine."""

    def __init__(
        self, group: MegatronGroup, body: Body, head: HeadShape, megatron_cfg: MegatronConfig | None, dtype: str
    ) -> None:
        self.group, self.body = group, body
        self._dtype = getattr(torch, dtype)
        self._unusable = ""
        self._key = group.build(body, head, megatron_cfg, dtype)

    def parameters(self) -> dict[str, str]:
        """Names and dtypes of rank 0's parameters."""
        return dict(self._call("parameters")[0])

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The state dict under Hugging Face names, as fp32 arrays."""
        return arrays_of(self.body.to_hugging_face(self._call("state")))

    def matmul_flags(self) -> dict[str, str]:
        """Precision settings of every rank's process."""
        flags = self._call("flags")
        return {f"rank{rank}.{name}": value for rank, found in enumerate(flags) for name, value in found.items()}

    def head_storage(self) -> int | None:
        """None: the weight is upcast at each call, there is no copy."""

    def prefill(self, tokens: Sequence[int]) -> Prefill:
        """One forward over a sequence."""
        self._refuse_unusable()
        hidden, logits = self._call("prefill", list(tokens))[0]
        return prefill_of(hidden, logits, tokens)

    def score(self, sequences: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
        """Log probabilities of ``tokens[1:]`` of each sequence, as one batch padded on the right."""
        self._refuse_unusable()
        longest = max(map(len, sequences))
        batch = torch.tensor([[*tokens, *[0] * (longest - len(tokens))] for tokens in sequences])
        scored = self._call("score", batch)[0].double().numpy()
        return [row[: len(tokens) - 1] for row, tokens in zip(scored, sequences, strict=True)]

    def refit(
        self,
        weights: Mapping[str, NDArray[np.float32]],
        *,
        transport: str,
        order: Sequence[str] = (),
        between: Callable[[], None] | None = None,
    ) -> None:
        """Take new weights from a state dict; ``direct`` is the only transport, and ignores order.

        Raises:
            ValueError: another transport, or a wrong size.
            KeyError: an unknown name.
        """
        del order, between
        if transport != "direct":
            raise ValueError(f"Megatron takes its weights from a state dict: transport {transport!r} does not exist")
        known = self.weights()
        if unknown := weights.keys() - known.keys() - {"lm_head.weight"}:
            raise KeyError(f"the model has no parameter {min(unknown)!r}")
        state = {name: torch.from_numpy(np.asarray(array)).to(self._dtype) for name, array in weights.items()}
        try:
            self._call("load", state)
        except BaseException:
            self._unusable = "a refit failed and may have left old and new weights mixed"
            raise
        if not known.keys() - weights.keys():
            self._unusable = ""

    def gradients(self, tokens: Sequence[int]) -> Gradients:
        """Run one backward of the mean negative log probability of ``tokens[1:]``.

        Raises:
            KeyError: a parameter got no gradient on some rank.
        """
        answers = self._call("gradients", list(tokens))
        return gradients_of(answers[0][0], self.body.to_hugging_face([found for _, found in answers]))

    def close(self) -> None:
        """Free the model; the group stays."""
        self._call("drop")

    def _refuse_unusable(self) -> None:
        if self._unusable:
            raise EngineStateError(f"{self._unusable}: refit all weights before the next forward")

    def _call(self, method: str, *arguments: Any) -> list[Any]:
        return self.group.call(self._key, method, *arguments)
