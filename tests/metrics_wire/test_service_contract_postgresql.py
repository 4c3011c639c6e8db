"""Every seeded defect is found on PostgreSQL too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts import metrics_wire
from impl.metrics_wire.service.adapter import ServiceAdapter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postgresql import PostgreSQL

    from contracts.mutant import Control, Mutant


@pytest.fixture(scope="module")
def adapter(postgresql: PostgreSQL) -> Iterator[ServiceAdapter]:
    """The reference on a new database of the session's PostgreSQL."""
    with ServiceAdapter("replace", postgresql.create_database()) as live:
        yield live


@pytest.mark.slow
@metrics_wire.service.parametrize_mutants()
def test_the_check_finds_its_defect(adapter: ServiceAdapter, mutant: Mutant[Any]) -> None:
    mutant.verify_killed(adapter)


@metrics_wire.service.parametrize_controls()
def test_the_check_tolerates_what_it_must(adapter: ServiceAdapter, control: Control[Any]) -> None:
    control.verify_held(adapter)
