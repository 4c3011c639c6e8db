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
    cpu, gpu = held(zoo.Right(), only=["TY-101", "TY-102"]), held(zoo.Right(), only=["TY-102"])
    cpu.origin, gpu.origin = "cpu.jsonl", "gpu.jsonl"
    message = "two of the reports hold TY-102 of right: cpu.jsonl and gpu.jsonl; leave one of them out, or give"
    with pytest.raises(DuplicateResultError, match=message):
        combined([cpu, gpu])


def test_packages_of_two_versions_cannot_be_combined() -> None:
    with pytest.raises(InconsistentReportError, match=r"combined: the version of rl-contracts is 0\.1\.0 and 9\.9"):
        combined([held(zoo.Right()), with_header(held(zoo.Lacks()), package="9.9")])


def test_checks_and_mutants_of_several_machines_become_one_report() -> None:
    gpu = with_header(held(zoo.Hasty()), environment={"torch": "2.13+cu130"}, profile="contracts-deep")
    whole = combined([held(zoo.Right()), gpu, contracts.verify_mutants(echo, zoo.Right())])
    assert (whole.header.command, whole.header.profile) == (
        "run and mutants",
        "contracts-smoke, contracts-deep, contracts",
    )
    assert [run.profile for run in whole.runs] == ["contracts-smoke", "contracts-deep", "contracts"]
    assert whole.totals == "9 passed, 1 failed, 0 known, 0 skipped; 6 killed, 0 survived, 0 inconclusive"
    assert whole.exit_code is ExitCode.HOLDS, "what failed is a SHOULD"
    assert [matrix.contract for matrix in matrices(whole)] == ["toy.echo 1.2", "toy.echo 1.2: mutants"]
    assert whole.counts["skipped"] == 0
    assert len(combined([whole, held(zoo.Lacks())]).runs) == 4, "a combination can be combined"


@pytest.mark.parametrize("lacking", ["result", "mutant"])
def test_a_combined_report_that_lacks_a_record_is_incomplete(lacking: str) -> None:
    whole = combined([held(zoo.Right()), contracts.verify_mutants(echo, zoo.Right())])
    (whole.results if lacking == "result" else whole.mutants).pop()
    assert whole.exit_code is ExitCode.INCOMPLETE


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
