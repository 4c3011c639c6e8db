"""Mutants and controls in the report that ``--contracts-report`` writes."""

from __future__ import annotations

import pytest
import toy_adapters
from toy_echo import echo

import contracts
from contracts import Report
from contracts.report.combination import combined
from contracts.report.html import as_html
from contracts.report.matrix import matrices
from contracts.report.report import ExitCode
from contracts.report.stream import read

pytest_plugins = ["pytester"]

MUTANTS = sum(mutant.check.until is None for mutant in echo.mutants)
CONTROLS = len(echo.controls)

FILE = """
import pytest
import toy_adapters
from toy_echo import echo

@pytest.fixture
def engine():
    {before}
    return toy_adapters.{adapter}()

@echo.parametrize_mutants({arguments})
def test_mutant(engine, mutant):
    {body}

@echo.parametrize_controls({arguments})
def test_control(engine, control):
    control.verify_held(engine)
"""


def recorded(
    pytester: pytest.Pytester,
    adapter: str,
    *,
    arguments: str = "",
    before: str = "",
    body: str = "mutant.verify_killed(engine)",
) -> Report:
    pytester.makepyfile(FILE.format(adapter=adapter, arguments=arguments, before=before, body=body))
    pytester.runpytest_inprocess("--contracts-report", "report.jsonl")
    return read(pytester.path / "report.jsonl")


@pytest.mark.parametrize("name", ["Right", "Rude", "Lacks", "Crashes", "Hasty"])
def test_it_says_what_the_python_door_says(pytester: pytest.Pytester, name: str) -> None:
    ours = recorded(pytester, name)
    theirs = contracts.verify_mutants(echo, getattr(toy_adapters, name)())
    said = [(m.mutant, m.killed_by, m.description, m.control, m.proof, m.reason) for m in ours.mutants]
    assert said == [(m.mutant, m.killed_by, m.description, m.control, m.proof, m.reason) for m in theirs.mutants]
    assert ours.header.command == "mutants"
    assert ours.header.subjects == theirs.header.subjects
    assert (ours.checks, ours.totals, ours.exit_code) == (theirs.checks, theirs.totals, theirs.exit_code)


def test_a_mutant_without_a_passing_baseline_shows_why(pytester: pytest.Pytester) -> None:
    report = recorded(pytester, "Rude")
    [unproved] = [mutant for mutant in report.mutants if mutant.proof == "inconclusive"]
    assert (unproved.mutant, unproved.killed_by) == ("TY-M102a", "TY-102")
    assert unproved.reason.startswith("without the defect, TY-102 the greeting is wrong")
    assert report.exit_code is ExitCode.INCOMPLETE
    assert "TY-M102a</code> inconclusive on rude" in as_html(report)


def test_one_that_survives_fails_the_run(pytester: pytest.Pytester) -> None:
    body = "import contracts, dataclasses; dataclasses.replace(mutant, wrap=contracts.Wrapper).verify_killed(engine)"
    report = recorded(pytester, "Right", body=body)
    assert report.proofs["survived"] == MUTANTS
    assert report.exit_code is ExitCode.FAILED


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("pytest.skip('not today')", "the test was skipped: not today"),
        ("pass", "the test ended without trying TY-M101a"),
        ("raise RuntimeError('no device')", "the test failed: RuntimeError: no device"),
    ],
)
def test_one_that_was_not_tried_is_inconclusive(pytester: pytest.Pytester, body: str, reason: str) -> None:
    report = recorded(pytester, "Right", body=body)
    assert {mutant.proof for mutant in report.mutants if not mutant.control} == {"inconclusive"}
    assert report.mutants[0].reason == reason
    assert report.exit_code is ExitCode.INCOMPLETE


def test_without_an_adapter_each_is_inconclusive(pytester: pytest.Pytester) -> None:
    report = recorded(pytester, "Right", before="raise RuntimeError('no engine')")
    assert report.proofs["inconclusive"] == len(report.mutants) == MUTANTS + CONTROLS
    assert report.mutants[0].reason == "a fixture failed: RuntimeError: no engine"
    assert report.exit_code is ExitCode.INCOMPLETE


def test_a_pinned_version_has_the_mutants_of_then(pytester: pytest.Pytester) -> None:
    report = recorded(pytester, "Right", arguments="version='1.0'")
    [subject] = report.header.subjects
    assert subject.contract_version == "1.0"
    assert {mutant.mutant for mutant in report.mutants} >= {"TY-M104a"}
    assert not {mutant.killed_by for mutant in report.mutants} & {"TY-103"}


BOTH = """
import pytest
import toy_adapters
from toy_echo import echo

@pytest.fixture
def adapter():
    return toy_adapters.Right()

@echo.parametrize()
def test_check(adapter, check):
    check.verify(adapter)

@echo.parametrize_mutants()
def test_mutant(adapter, mutant):
    mutant.verify_killed(adapter)
"""


def test_checks_and_mutants_of_one_run_stand_in_one_report(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(BOTH)
    pytester.runpytest_inprocess("--contracts-report", "report.jsonl").assert_outcomes(passed=5 + MUTANTS)
    report = read(pytester.path / "report.jsonl")
    assert report.header.command == "run and mutants"
    assert [subject.selected for subject in report.header.subjects] == [5 + MUTANTS]
    assert [matrix.contract for matrix in matrices(report)] == ["toy.echo 1.2", "toy.echo 1.2: mutants"]
    assert report.footer is not None
    assert (report.footer.counts["passed"], report.footer.counts["killed"]) == (5, MUTANTS)
    assert report.exit_code is ExitCode.HOLDS
    whole = combined([report, contracts.verify(echo, toy_adapters.Rude(), profile="smoke")])
    assert whole.header.command == "run and mutants"
    assert whole.exit_code is ExitCode.FAILED


def test_only_keeps_checks_and_no_mutants(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(BOTH)
    pytester.runpytest_inprocess("--contracts-report", "report.jsonl", "--contracts-only", "TY-102")
    report = read(pytester.path / "report.jsonl")
    assert [result.check for result in report.results] == ["TY-102"]
    assert report.mutants == []
