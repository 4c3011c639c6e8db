"""The reference endpoint held to its contract through the pytest door, and every defect found in it."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from contracts import CheckCrashed, ContractFailure, gym_overflow
from contracts.gym_overflow.protocols import EndpointWrapper
from contracts.gym_overflow.refusal import MARKER
from contracts.gym_overflow.selection import selected
from contracts.rooms import PREFIXES
from impl.gym_overflow.adapter import ReferenceEndpoint, endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts.check import Check
    from contracts.http import Answer
    from contracts.mutant import Mutant

CONTRACT = gym_overflow.endpoint
THEMES = {"1": "the window", "2": "precision", "3": "shape", "4": "capabilities"}
SEARCHED = [mutant for mutant in CONTRACT.mutants if mutant.check.cases or mutant.check.cases_for]


@pytest.fixture(scope="session")
def adapter() -> Iterator[ReferenceEndpoint]:
    with endpoint() as live:
        yield live


@CONTRACT.parametrize()
def test_the_reference_holds(adapter: ReferenceEndpoint, check: Check[Any]) -> None:
    check.verify(adapter)


@CONTRACT.parametrize_mutants()
def test_the_check_finds_its_defect(adapter: ReferenceEndpoint, mutant: Mutant[Any]) -> None:
    mutant.verify_killed(adapter)


class OwnWords(EndpointWrapper):
    """Refuses an overflow in words of its own, without a number, and with an id beside the error."""

    def request(self, method: str, path: str, **sent: Any) -> Answer:
        answer = super().request(method, path, **sent)
        if MARKER not in answer.body.decode(errors="replace"):
            return answer
        refusal = {"message": "It exceeds the available context size.", "type": "invalid", "code": 400}
        return replace(answer, body=json.dumps({"error": refusal, "request_id": uuid.uuid4().hex}).encode())


def test_a_defect_shows_itself_whatever_the_refusals_words(adapter: ReferenceEndpoint) -> None:
    [mutant] = [mutant for mutant in CONTRACT.mutants if mutant.id == "GO-M105a"]
    mutant.verify_killed(OwnWords(adapter))


def test_every_check_has_a_defect() -> None:
    proved = {mutant.killed_by for mutant in CONTRACT.mutants}
    assert {check.id for check in CONTRACT.at()} <= proved


def test_ids_name_room_and_theme() -> None:
    for check in CONTRACT.checks:
        prefix, number = check.id.split("-")
        assert prefix == PREFIXES["gym_overflow"]
        assert number[0] in THEMES, check.id


def test_a_mutant_is_named_after_its_check() -> None:
    for mutant in (*CONTRACT.mutants, *CONTRACT.controls):
        assert mutant.id[4:7] == mutant.killed_by[3:], mutant.id


@pytest.mark.slow
@pytest.mark.parametrize("mutant", [pytest.param(mutant, id=mutant.id) for mutant in SEARCHED])
def test_the_drawn_cases_alone_find_the_defect(adapter: ReferenceEndpoint, mutant: Mutant[Any]) -> None:
    """The strategy reaches the defect: it is no decoration beside the examples."""
    drawing = replace(mutant.check, examples=())
    with pytest.raises(ContractFailure) as caught:
        drawing.verify(mutant.wrap(adapter), profile="default")
    assert caught.value.code == mutant.killed_by


@pytest.mark.parametrize("mutant", [pytest.param(mutant, id=mutant.id) for mutant in CONTRACT.mutants])
def test_no_defect_crashes_another_check(adapter: ReferenceEndpoint, mutant: Mutant[Any]) -> None:
    """A defect is found or passed over by every other check; none of them breaks on it."""
    broken = mutant.wrap(adapter)
    crashed = []
    with selected(["0.7.0"]):
        for check in CONTRACT.at():
            if check.missing(broken):
                continue
            try:
                check.verify(broken, case=check.examples[0] if check.takes_case else None)
            except ContractFailure:
                continue
            except CheckCrashed as crash:
                crashed.append(str(crash))
    assert crashed == []
