"""What is known of an adapter, kept once for the adapter beneath any mutant."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from contracts.mutant import Wrapper

if TYPE_CHECKING:
    from collections.abc import Callable

V = TypeVar("V")


def beneath(adapter: Any) -> Any:
    """The adapter beneath any wrapper."""
    while isinstance(adapter, Wrapper):
        adapter = adapter.inner
    return adapter


class PerAdapter(Generic[V]):
    """One value for each adapter, made when it is first asked for and dropped with the adapter.

    Adapters are told apart by identity: one may be a dataclass, which need not be hashable.
    """

    def __init__(self, make: Callable[[Any], V]) -> None:
        self._make = make
        self._values: dict[int, V] = {}

    def of(self, adapter: Any) -> V:
        """The value of the adapter beneath any wrapper."""
        found = beneath(adapter)
        key = id(found)
        if key not in self._values:
            self._values[key] = self._make(found)
            weakref.finalize(found, self._values.pop, key, None)
        return self._values[key]
