"""The zoo of toy adapters is importable for the tests of the core, and for the processes that they start."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contracts import rooms

if TYPE_CHECKING:
    from collections.abc import Iterator

ZOO = Path(__file__).parent / "zoo"
sys.path.insert(0, str(ZOO))


@pytest.fixture
def toy_room(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The toy contract, known to the command line as ``toy.echo``."""
    import toy_echo  # noqa: PLC0415 - importable since this file ran

    monkeypatch.setitem(sys.modules, "contracts.toy", toy_echo)
    with _holding(rooms.ROOMS, {"toy": ("echo",)}), _holding(rooms.PREFIXES, {"toy": "TY"}):
        yield


@contextmanager
def _holding(table: dict[str, Any], entries: dict[str, Any]) -> Iterator[None]:
    # Not by monkeypatch, which would put the entries back in another order, and the order is what users see.
    before = dict(table)
    table.clear()
    table.update(entries)
    try:
        yield
    finally:
        table.clear()
        table.update(before)


@pytest.fixture
def zoo_environment() -> dict[str, str]:
    """Environment of a process that finds the zoo, and writes text as a CI job does."""
    path = os.pathsep.join(filter(None, (str(ZOO), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1"}
