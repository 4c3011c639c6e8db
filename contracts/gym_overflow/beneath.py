"""What is known of an endpoint, kept once for the endpoint beneath any mutant."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from contracts.mutant import Wrapper

if TYPE_CHECKING:
    from collections.abc import Callable

V = TypeVar("V")


def beneath(endpoint: Any) -> Any:
    """The endpoint beneath any wrapper."""
    while isinstance(endpoint, Wrapper):
        endpoint = endpoint.inner
    return endpoint


class PerEndpoint(Generic[V]):
    """One value for each endpoint, made when it is first asked for and dropped with the endpoint.

    Endpoints are told apart by identity: an adapter may be a dataclass, which need not be hashable.
    """

    def __init__(self, make: Callable[[Any], V]) -> None:
        self._make = make
        self._values: dict[int, V] = {}

    def of(self, endpoint: Any) -> V:
        """The value of the endpoint beneath any wrapper."""
        found = beneath(endpoint)
        key = id(found)
        if key not in self._values:
            self._values[key] = self._make(found)
            weakref.finalize(found, self._values.pop, key, None)
        return self._values[key]
