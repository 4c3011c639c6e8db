from __future__ import annotations

import pytest
from toy_adapters import Right
from toy_echo import echo

import contracts


@pytest.mark.parametrize(
    ("version", "ids"),
    [
        ("1.0", ["TY-101", "TY-102", "TY-104", "TY-201", "TY-301"]),
        ("1.1", ["TY-101", "TY-102", "TY-103", "TY-201", "TY-301"]),
        ("1.2", ["TY-101", "TY-102", "TY-103", "TY-201", "TY-301"]),
        (None, ["TY-101", "TY-102", "TY-103", "TY-201", "TY-301"]),
    ],
)
def test_a_version_has_the_checks_since_it_and_until_it(version: str | None, ids: list[str]) -> None:
    assert [check.id for check in echo.at(version)] == ids


def test_a_retired_check_keeps_its_id() -> None:
    assert echo["TY-104"].until == "1.1"
    assert "TY-104" in {check.id for check in echo.checks}


def test_versions_are_numbers_and_not_text() -> None:
    contract: contracts.Contract[object] = contracts.Contract("toy.t", version="1.10", summary="s", reference="m:f")

    def held(_check: object, _adapter: object) -> None:
        """It holds.

        Why: because.

        Usual cause: none.
        """

    contract.check("TY-101", source=contracts.Source.ours("a toy"), since="1.9")(held)
    assert [check.id for check in contract.at()] == ["TY-101"]
    assert contract.at("1.8") == ()


def test_a_version_that_does_not_exist_yet_is_refused() -> None:
    with pytest.raises(ValueError, match=r"toy\.echo is at version 1\.2; 1\.3 does not exist yet"):
        echo.at("1.3")


@pytest.mark.parametrize("version", ["1", "one", "1.x", "v1.0", "1.0.0", "1."])
def test_a_malformed_version_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match=r"a contract version is major\.minor"):
        echo.at(version)


@pytest.mark.parametrize(("version", "check_id"), [("1.0", "TY-103"), (None, "TY-104"), (None, "TY-999")])
def test_a_check_that_is_not_in_force_cannot_be_selected(version: str | None, check_id: str) -> None:
    with pytest.raises(contracts.contract.UnknownIdError, match=f"has no check {check_id}"):
        echo.select(version, {"TY-101", check_id})


def test_verify_holds_an_adapter_to_a_pinned_version() -> None:
    report = contracts.verify(echo, Right(), version="1.0")
    [subject] = report.header.subjects
    assert [result.check for result in report.results] == [check.id for check in echo.at("1.0")]
    assert (subject.contract_version, subject.declared, subject.selected) == ("1.0", 5, 5)


def test_the_mutants_of_a_pinned_version_are_those_of_its_checks() -> None:
    tried = {record.mutant for record in contracts.verify_mutants(echo, Right(), version="1.0").mutants}
    assert "TY-M104a" in tried
    assert not tried & {"TY-M103a", "TY-C103a"}
