"""The zoo of toy adapters is importable for the tests of the core, and for the processes that they start."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contracts import rooms

if TYPE_CHECKING:
    from collections.abc import Iterator

ZOO = Path(__file__).parent / "zoo"
sys.path.insert(0, str(ZOO))


@pytest.fixture(autouse=True)
def rooms_in_their_order() -> Iterator[None]:
    """Puts the rooms back after every test: monkeypatch does so in another order, and users see the order."""
    before = [(table, dict(table)) for table in (rooms.ROOMS, rooms.PREFIXES)]
    yield
    for table, entries in before:
        table.clear()
        table.update(entries)


@pytest.fixture
def toy_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy contract, known to the command line as ``toy.echo``."""
    import toy_echo  # noqa: PLC0415 - importable since this file ran

    for table, entry in ((rooms.ROOMS, ("echo",)), (rooms.PREFIXES, "TY")):
        for room in list(table):
            monkeypatch.delitem(table, room)
        monkeypatch.setitem(table, "toy", entry)
    monkeypatch.setitem(sys.modules, "contracts.toy", toy_echo)


@pytest.fixture
def zoo_environment() -> dict[str, str]:
    """Environment of a process that finds the zoo, and writes text as a CI job does."""
    path = os.pathsep.join(filter(None, (str(ZOO), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1"}
