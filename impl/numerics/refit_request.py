"""What may be asked of a refit, the same for every engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from impl.numerics.checkpoint import State


def refuse_nonsense(state: State, *, transport: str, order: Sequence[str], offered: Collection[str]) -> None:
    """Raise for an update that cannot be carried, before anything is sent or written.

    Args:
        state: new weights under Hugging Face names.
        transport: how they shall go.
        order: the names of ``state`` in the order in which they are sent.
        offered: the engine's transports.

    Raises:
        ValueError: no such transport, or an order that is not that of these weights.
    """
    if transport not in offered:
        raise ValueError(f"no transport {transport!r}; there are {', '.join(offered)}")
    if sorted(order) != sorted(state):
        apart = sorted(set(order) ^ set(state)) or "a name comes twice"
        raise ValueError(f"the order must name each weight of the update once; it does not: {apart}")
