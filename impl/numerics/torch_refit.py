"""The ways in which new weights reach the torch engine; each is one that real engines use.

``direct``      the whole update through ``load_weights``, inside the update lifecycle
``collective``  batches in the order in which they arrive, each through ``load_weights``, inside the lifecycle
``checkpoint``  a file, through ``load_weights``, with no lifecycle around it (a checkpoint engine)
``delta``       only the elements that changed, written into the parameters past ``load_weights``
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from impl.numerics.drafter import PREFIX, Drafter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from impl.numerics.checkpoint import State
    from impl.numerics.llama import Llama
    from impl.numerics.refit_hooks import WorkerHeads

TRANSPORTS = ("direct", "collective", "checkpoint", "delta")


class Refit:
    """Carries updates into a model and its drafter, and keeps the cached heads right."""

    def __init__(self, model: Llama, drafter: Drafter | None, heads: WorkerHeads | None) -> None:
        self.model, self.drafter, self.heads = model, drafter, heads

    def carry(
        self,
        state: State,
        *,
        transport: str,
        order: Sequence[str],
        between: Callable[[], None] | None = None,
    ) -> None:
        """Carry one update.

        Args:
            state: new weights; may be a part of all.
            transport: one of `TRANSPORTS`.
            order: the names of ``state`` in the order in which they are sent, one batch each (``collective``).
            between: called after every batch (``collective``).

        Raises:
            ValueError: a tensor of the wrong size.
            KeyError: a name that the model does not have.
        """
        if transport == "direct":
            with self._lifecycle():
                self._load(state.items())
        elif transport == "collective":
            with self._lifecycle():
                for name in order:
                    self._load([(name, state[name])])
                    if between is not None:
                        between()
        elif transport == "checkpoint":
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "weights.pt"
                torch.save(state, path)
                self._load(torch.load(path, weights_only=True).items())
            if self.heads is not None:
                self.heads.refresh()
        else:
            with self._lifecycle():
                self._write_changed(state)

    @contextmanager
    def _lifecycle(self) -> Iterator[None]:
        """Begin and end of an update, as far as there is a cached head."""
        if self.heads is None:
            yield
            return
        with self.heads.update():
            yield

    def _load(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        """Hand each weight to the model that owns it."""
        every = list(weights)
        self.model.load_weights((name, tensor) for name, tensor in every if not name.startswith(PREFIX))
        mine = [(name.removeprefix(PREFIX), tensor) for name, tensor in every if name.startswith(PREFIX)]
        if mine:
            if self.drafter is None:
                raise KeyError(f"this engine has no drafter to take {mine[0][0]!r}")
            self.drafter.load_weights(mine)

    def _write_changed(self, state: State) -> None:
        """Write the changed elements of each weight, as a sparse update does."""
        own = dict(self.model.named_parameters(remove_duplicate=False))
        if self.drafter is not None:
            own |= {PREFIX + name: parameter for name, parameter in self.drafter.named_parameters()}
        for name, tensor in state.items():
            if name not in own:
                raise KeyError(f"the model has no parameter {name!r}")
            target = own[name].data[: len(tensor)]
            if target.shape != tensor.shape:
                raise ValueError(f"{name} is {tuple(target.shape)} here and {tuple(tensor.shape)} in the update")
            sent = tensor.to(target.device)
            changed = target != sent
            target[changed] = sent[changed]
