"""The rooms, and their contracts by name. A room is imported when one of its contracts is asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contracts.contract import Contract

#: Room to the sides that it can hold.
ROOMS = {
    "gym_overflow": ("endpoint", "classifier"),
    "metrics_wire": ("logger", "service"),
    "numerics": ("head", "parity"),
}
#: Room to the two letters that its ids begin with.
PREFIXES = {"gym_overflow": "GO", "metrics_wire": "MW", "numerics": "NU"}


class RoomUnavailableError(ImportError):
    """A room whose own dependencies, an extra of this distribution, are not installed."""


def names(wanted: str | None = None) -> list[str]:
    """Names of the contracts that ``wanted`` stands for: a room, ``room.side``, or ``None`` for all.

    Raises:
        ValueError: If there is no such room or side.
    """
    every = [f"{room}.{side}" for room, sides in ROOMS.items() for side in sides]
    found = [name for name in every if wanted in {None, name, name.partition(".")[0]}]
    if not found:
        raise ValueError(f"no room or contract {wanted!r}; there are {', '.join(every)}")
    return found


def load(name: str) -> Contract[Any]:
    """The contract called ``room.side``.

    Raises:
        ValueError: If there is no such contract.
        RoomUnavailableError: If a package that the room needs is not installed.
    """
    if names(name) != [name]:
        raise ValueError(f"{name!r} is a room; its contracts are {', '.join(names(name))}")
    room, _, side = name.partition(".")
    try:
        contract: Contract[Any] = getattr(importlib.import_module(f"contracts.{room}"), side)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("contracts"):
            raise
        raise RoomUnavailableError(
            f"the room {room} needs {error.name}, which is not installed: pip install 'rl-contracts[{_extra(room)}]'"
        ) from error
    return contract


def _extra(room: str) -> str:
    return room.replace("_", "-")
