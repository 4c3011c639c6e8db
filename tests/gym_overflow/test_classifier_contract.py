"""Nine published Gyms held to the classifier's contract through the pytest door, and every defect found in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from contracts import ContractFailure, gym_overflow
from contracts.gym_overflow.classifier_source import SourceAdapter
from contracts.gym_overflow.gym import load_gym, pinned_releases

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.mutant import Mutant

CONTRACT = gym_overflow.classifier
SEARCHED = [mutant for mutant in CONTRACT.mutants if mutant.check.cases or mutant.check.cases_for]


@pytest.fixture(scope="session", params=[release.release for release in pinned_releases()])
def adapter(request: pytest.FixtureRequest) -> SourceAdapter:
    return SourceAdapter(load_gym(request.param))


@CONTRACT.parametrize()
def test_every_pinned_release_holds(adapter: SourceAdapter, check: Check[Any]) -> None:
    check.verify(adapter)


@CONTRACT.parametrize_mutants()
def test_the_check_finds_its_defect(adapter: SourceAdapter, mutant: Mutant[Any]) -> None:
    mutant.verify_killed(adapter)


def test_every_check_has_a_defect() -> None:
    proved = {mutant.killed_by for mutant in CONTRACT.mutants}
    assert {check.id for check in CONTRACT.at()} <= proved


def test_ids_name_the_theme() -> None:
    assert {check.id[3] for check in CONTRACT.checks} == {"5"}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", [pytest.param(mutant, id=mutant.id) for mutant in SEARCHED])
def test_the_drawn_cases_alone_find_the_defect(adapter: SourceAdapter, mutant: Mutant[Any]) -> None:
    drawing = replace(mutant.check, examples=())
    with pytest.raises(ContractFailure) as caught:
        drawing.verify(mutant.wrap(adapter), profile="default")
    assert caught.value.code == mutant.killed_by
