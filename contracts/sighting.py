"""What was tried on which adapter, for whoever records it: a test may call its fixture what it likes."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts.mutant import MutantResult


@dataclass(frozen=True, slots=True)
class Sighting:
    """One check that was run, or one mutant or control that was tried.

    Attributes:
        id: Its id.
        adapter: What it was tried on.
        proof: What trying the mutant or control showed, ``None`` for a check.
    """

    id: str
    adapter: Any
    proof: MutantResult | None = None


_sightings: ContextVar[list[Sighting] | None] = ContextVar("contracts_sightings", default=None)


@contextmanager
def watched() -> Iterator[list[Sighting]]:
    """Collect what is tried inside the block, in order."""
    found: list[Sighting] = []
    token = _sightings.set(found)
    try:
        yield found
    finally:
        _sightings.reset(token)


def sighted(tried_id: str, adapter: Any, proof: MutantResult | None = None) -> None:
    """Tell whoever watches; nobody does outside `watched`."""
    if (found := _sightings.get()) is not None:
        found.append(Sighting(tried_id, adapter, proof))
