"""The heart of the mutants: an engine whose head is not what was sent.

Staleness is made from outside, on any engine: a refit goes in with the head replaced by an old one, and the state
dict is answered with what was sent. Logits then come from the engine's own kernels and an old head, as from a
cached copy that was not refreshed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.numerics.defects import EngineDefect
from contracts.numerics.updates import head_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.numerics.protocols import F32


class StaleHead(EngineDefect):
    """Keeps the head of its start through every refit that `keeps_old` picks.

    Attributes:
        old: the head's weights that the engine computes with.
        refits: how many refits there were before.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # Asked of the engine and not taken from the checkpoint: it may have started on dummy weights.
        held = self.inner.weights()
        self.old: dict[str, F32] = {name: held[name] for name in head_names(held, self.shape)}
        self.refits = 0
        self._sent: dict[str, F32] = {}

    def keeps_old(self, sent: Mapping[str, F32], transport: str, *, between: bool) -> bool:
        """Whether this refit leaves the head as it is."""
        del sent, transport, between
        return True

    def refit(self, weights: Mapping[str, F32], *, transport: str, order: Any = (), between: Any = None) -> None:
        """Send what was asked for, with the old head in it."""
        mine = head_names(weights, self.shape)
        stale = self.keeps_old(weights, transport, between=between is not None)
        self.refits += 1
        self._sent |= {name: weights[name] for name in mine}
        if not stale:
            self.old |= {name: weights[name] for name in mine}
        sent = {name: self.old.get(name, weight) if name in mine else weight for name, weight in weights.items()}
        self.inner.refit(sent, transport=transport, order=order, between=between)

    def weights(self) -> dict[str, F32]:
        """The state dict as if the head had arrived."""
        return {**self.inner.weights(), **self._sent}
