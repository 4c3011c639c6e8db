"""The reference logger held to its contract through the pytest door, and the shape of the contract.

Its mutants wait a lot, and are tried by ``tox -e contracts`` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts import metrics_wire
from contracts.rooms import PREFIXES
from impl.metrics_wire.adapter import ReferenceAdapter, logger

if TYPE_CHECKING:
    from contracts.check import Check

CONTRACT = metrics_wire.logger
THEMES = {
    "1": "numbering",
    "2": "values",
    "3": "naming",
    "4": "routing",
    "5": "delivery",
    "6": "persistence",
    "7": "isolation",
    "8": "cost",
}


@pytest.fixture(scope="session")
def adapter() -> ReferenceAdapter:
    return logger()


@CONTRACT.parametrize()
def test_the_reference_holds(adapter: ReferenceAdapter, check: Check[Any]) -> None:
    check.verify(adapter, profile="smoke")


def test_every_check_has_a_defect() -> None:
    proved = {mutant.killed_by for mutant in CONTRACT.mutants}
    assert {check.id for check in CONTRACT.at()} <= proved


def test_every_budget_has_a_defect_at_twice_and_a_control_at_half() -> None:
    for check in ("MW-703", "MW-706", "MW-801", "MW-802"):
        assert any(control.killed_by == check and "half" in control.description for control in CONTRACT.controls)
        assert any(mutant.killed_by == check and "twice" in mutant.description for mutant in CONTRACT.mutants)


def test_ids_name_room_and_theme() -> None:
    for check in CONTRACT.checks:
        prefix, number = check.id.split("-")
        assert prefix == PREFIXES["metrics_wire"]
        assert number[0] in THEMES, check.id


def test_a_mutant_is_named_after_its_check() -> None:
    for mutant in (*CONTRACT.mutants, *CONTRACT.controls):
        assert mutant.id[4:7] == mutant.killed_by[3:], mutant.id
