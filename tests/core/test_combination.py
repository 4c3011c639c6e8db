from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import toy_adapters as zoo
from toy_echo import echo

import contracts
from contracts import Report
from contracts.report.combination import combined
from contracts.report.matrix import matrices
from contracts.report.report import ExitCode
from contracts.report.stream import DuplicateResultError, InconsistentReportError


def held(adapter: Any, **arguments: Any) -> Report:
    return contracts.verify(echo, adapter, profile="smoke", **arguments)


def with_header(report: Report, **fields: Any) -> Report:
    return replace(report, header=replace(report.header, **fields))


def test_adapters_of_several_reports_stand_side_by_side() -> None:
    whole = combined([held(zoo.Right()), held(zoo.Rude()), held(zoo.Lacks())])
    [matrix] = matrices(whole)
    assert matrix.subjects == ("right", "rude", "lacks")
    assert [[cell.verdict for cell in row.cells] for row in matrix.rows if row.id in {"TY-102", "TY-201"}] == [
        ["passed", "failed", "passed"],
        ["passed", "passed", "skipped"],
    ]
    assert whole.totals == "13 passed, 1 failed, 0 known, 1 skipped"
    assert whole.exit_code is ExitCode.FAILED
    assert len(whole.checks) == 5


def test_shards_of_one_adapter_become_one_column() -> None:
    whole = combined([held(zoo.Right(), only=["TY-101", "TY-102"]), held(zoo.Right(), only=["TY-103", "TY-201"])])
    [subject] = whole.header.subjects
    assert (subject.declared, subject.selected) == (5, 4)
    [matrix] = matrices(whole)
    assert [row.id for row in matrix.rows] == ["TY-101", "TY-102", "TY-103", "TY-201"]
    assert whole.exit_code is ExitCode.HOLDS


def test_mutants_are_combined_too() -> None:
    whole = combined(
        [contracts.verify_mutants(echo, zoo.Right()), contracts.verify_mutants(echo, zoo.Lacks())],
    )
    assert whole.totals == "11 killed, 0 survived, 0 inconclusive"
    assert whole.exit_code is ExitCode.HOLDS


def test_one_report_stays_what_it_is() -> None:
    report = held(zoo.Rude())
    whole = combined([report])
    assert (whole.header, whole.checks, whole.results) == (report.header, report.checks, report.results)
    assert whole.exit_code is report.exit_code


def test_environments_that_differ_are_all_named() -> None:
    one = with_header(held(zoo.Right()), environment={"python": "3.11", "torch": "2.13"}, started="2026-01-02T00:00:00")
    two = with_header(held(zoo.Lacks()), environment={"python": "3.12"}, started="2026-01-01T00:00:00")
    head = combined([one, two]).header
    assert head.environment == {"python": "3.11, 3.12", "torch": "2.13"}
    assert head.started == "2026-01-01T00:00:00"


def test_the_same_check_of_one_adapter_twice_is_an_error() -> None:
    with pytest.raises(DuplicateResultError, match="two of the reports hold TY-102 of right"):
        combined([held(zoo.Right(), only=["TY-101", "TY-102"]), held(zoo.Right(), only=["TY-102"])])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"package": "9.9"}, r"package is 0\.1\.0 and 9\.9"),
        ({"profile": "contracts-deep"}, "profile is contracts-smoke and contracts-deep"),
        ({"command": "mutants"}, "command is run and mutants"),
    ],
    ids=["package", "profile", "command"],
)
def test_runs_of_another_kind_cannot_be_combined(fields: dict[str, str], message: str) -> None:
    with pytest.raises(InconsistentReportError, match=f"reports cannot be combined: {message}"):
        combined([held(zoo.Right()), with_header(held(zoo.Lacks()), **fields)])


def test_contract_versions_cannot_be_combined() -> None:
    with pytest.raises(InconsistentReportError, match=r"the version of toy\.echo is 1\.2 and 1\.0"):
        combined([held(zoo.Right()), held(zoo.Lacks(), version="1.0")])


def test_one_adapter_cannot_be_two_things() -> None:
    other = zoo.Lacks()
    other.name = "right"
    with pytest.raises(InconsistentReportError, match="capabilities of right is"):
        combined([held(zoo.Right(), only=["TY-101"]), held(other, only=["TY-102"])])


def test_nothing_cannot_be_combined() -> None:
    with pytest.raises(ValueError, match="no report to combine"):
        combined([])
