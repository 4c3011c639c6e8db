"""The laws that every contract of every room obeys. A contract that cannot be loaded breaks all of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

import contracts
from contracts import Contract, Level, Mutant
from contracts.case import decode, encode
from contracts.catalogue import as_markdown
from contracts.rooms import PREFIXES, ROOMS, names

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

ROOT = Path(__file__).parents[2]
every_contract = pytest.mark.parametrize("name", names())
every_room = pytest.mark.parametrize("room", ROOMS)
drawn_a_few_times = settings(
    max_examples=10, derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def contract_of(name: str) -> Contract[Any]:
    return contracts.load(name)


def seeded(contract: Contract[Any]) -> tuple[Mutant[Any], ...]:
    return (*contract.mutants, *contract.controls)


def is_a_sentence(text: str) -> bool:
    return text == " ".join(text.split()) and text.endswith(".") and len(text) > len("It holds.")


@every_contract
def test_a_contract_is_named_for_its_place_and_has_checks(name: str) -> None:
    contract = contract_of(name)
    assert contract.name == name
    assert contract.checks
    assert re.fullmatch(r"(impl|contracts)(\.\w+)+:\w+", contract.reference)
    assert contract.summary
    assert not contract.summary.endswith("."), "the views end it"


@every_contract
def test_every_check_has_a_mutant(name: str) -> None:
    contract = contract_of(name)
    killed = {mutant.killed_by for mutant in contract.mutants}
    assert [check.id for check in contract.checks if check.id not in killed] == []
    assert len(contract.mutants) >= len(contract.checks)


@every_contract
def test_every_mutant_belongs_to_a_check_of_its_contract(name: str) -> None:
    contract = contract_of(name)
    for mutant in seeded(contract):
        assert mutant.check is contract[mutant.killed_by], mutant.id
        assert mutant.contract == name
        assert mutant.requires <= mutant.check.requires


@every_contract
def test_every_mutant_has_its_own_defect(name: str) -> None:
    contract = contract_of(name)
    descriptions = [(mutant.killed_by, mutant.description) for mutant in seeded(contract)]
    assert len(set(descriptions)) == len(descriptions)


@every_contract
def test_every_id_has_the_letters_of_its_room(name: str) -> None:
    contract = contract_of(name)
    prefix = PREFIXES[name.partition(".")[0]]
    for check in contract.checks:
        assert re.fullmatch(rf"{prefix}-\d{{3}}", check.id)
    for mutant in contract.mutants:
        assert re.fullmatch(rf"{prefix}-M\d{{3}}[a-z]?", mutant.id), mutant.id
        assert mutant.id[4:7] == mutant.killed_by[3:], f"{mutant.id} is killed by {mutant.killed_by}"
    for control in contract.controls:
        assert re.fullmatch(rf"{prefix}-C\d{{3}}[a-z]?", control.id), control.id
        assert control.id[4:7] == control.killed_by[3:], f"{control.id} is tolerated by {control.killed_by}"


@every_room
def test_ids_are_unique_within_a_room(room: str) -> None:
    sides = [contract_of(f"{room}.{side}") for side in ROOMS[room]]
    ids = [check.id for contract in sides for check in contract.checks]
    ids += [mutant.id for contract in sides for mutant in seeded(contract)]
    assert sorted(set(ids)) == sorted(ids)


def test_every_room_has_letters_of_its_own() -> None:
    assert PREFIXES.keys() == ROOMS.keys()
    assert len(set(PREFIXES.values())) == len(PREFIXES)
    assert PREFIXES == {"gym_overflow": "GO", "metrics_wire": "MW", "numerics": "NU"}, "ids are never renumbered"


@every_contract
def test_every_check_has_a_level_a_source_and_words(name: str) -> None:
    for check in contract_of(name).checks:
        assert check.level in {Level.MUST, Level.SHOULD}
        assert check.source.place.strip()
        assert check.source.fact.strip()
        assert is_a_sentence(check.claim), f"{check.id}: {check.claim}"
        assert is_a_sentence(check.why), f"{check.id}: {check.why}"
        assert is_a_sentence(check.usual_cause), f"{check.id}: {check.usual_cause}"


@every_contract
def test_every_capability_is_a_sentence_and_needed_by_a_check(name: str) -> None:
    contract = contract_of(name)
    for capability, meaning in contract.capabilities.items():
        assert re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", capability)
        assert is_a_sentence(meaning), f"{capability}: {meaning}"
    needed = {capability for check in contract.checks for capability in check.requires}
    assert needed <= contract.capabilities.keys()


@every_contract
def test_every_example_and_witness_comes_back_from_its_json(name: str) -> None:
    contract = contract_of(name)
    for check in contract.checks:
        witnesses = [mutant.witness for mutant in seeded(contract) if mutant.killed_by == check.id]
        if not check.takes_case:
            assert witnesses == [None] * len(witnesses), f"{check.id} takes no case"
            continue
        kind = type(check.examples[0])
        for case in (*check.examples, *witnesses):
            assert type(case) is kind, f"{check.id}: {case!r}"
            text = encode(case)
            assert decode(kind, text) == case, f"{check.id}: {text}"
            assert encode(decode(kind, text)) == text


def drawn_cases_come_back(kind: type, strategy: SearchStrategy[object]) -> None:
    @drawn_a_few_times
    @given(strategy)
    def comes_back(case: object) -> None:
        assert type(case) is kind
        assert decode(kind, encode(case)) == case

    comes_back()


@every_contract
def test_every_drawn_case_comes_back_from_its_json(name: str) -> None:
    for check in contract_of(name).checks:
        if check.cases is None:
            continue
        drawn_cases_come_back(type(check.examples[0]), check.cases())


@every_contract
def test_every_version_is_one_that_the_contract_had(name: str) -> None:
    contract = contract_of(name)
    for check in contract.checks:
        assert contract.at(check.since), check.id
        if check.until is not None:
            assert check not in contract.at(check.until), check.id
            assert check in contract.at(check.since), check.id


def test_the_catalogue_of_checks_is_up_to_date() -> None:
    written = (ROOT / "docs" / "checks.md").read_text("utf-8")
    assert written == as_markdown(), "run: python -m contracts.catalogue > docs/checks.md"


def test_the_changelog_names_every_check() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    named = set(re.findall(r"[A-Z]{2}-\d{3}", text))
    for prefix, first, last in re.findall(r"([A-Z]{2})-(\d{3}) to [A-Z]{2}-(\d{3})", text):
        named |= {f"{prefix}-{number:03d}" for number in range(int(first), int(last) + 1)}
    assert {check.id for name in names() for check in contract_of(name).checks} <= named
