"""The report that ``--contracts-report`` writes."""

from __future__ import annotations

from pathlib import Path

import pytest
import toy_adapters
from toy_echo import echo

import contracts
from contracts import KnownFailure, Report
from contracts.report.matrix import matrices
from contracts.report.report import ExitCode
from contracts.report.stream import TruncatedReportError, read

pytest_plugins = ["pytester"]

FILE = """
import pytest
import toy_adapters
from toy_echo import echo
from contracts import KnownFailure

KNOWN = {{'TY-102': KnownFailure('it is rude', issue='toy/echo#1', until={until!r})}}

@pytest.fixture(params={adapters!r})
def adapter(request):
    return getattr(toy_adapters, request.param)()

@echo.parametrize({arguments})
def test_echo(adapter, check):
    check.verify(adapter)
"""


def recorded(pytester: pytest.Pytester, *adapters: str, arguments: str = "", until: str | None = None) -> Report:
    pytester.makepyfile(FILE.format(adapters=adapters, arguments=arguments, until=until))
    pytester.runpytest_inprocess("--contracts-report", "report.jsonl", "--contracts-profile", "smoke")
    return read(pytester.path / "report.jsonl")


ZOO = ["Right", "Wrong", "WrongAbove", "Hasty", "Rude", "Crashes", "Hangs", "Lacks", "Claims"]


@pytest.mark.parametrize("name", ZOO)
def test_it_says_what_the_python_door_says(pytester: pytest.Pytester, name: str) -> None:
    ours = recorded(pytester, name)
    theirs = contracts.verify(echo, getattr(toy_adapters, name)(), profile="smoke")
    said = [(r.check, r.level, r.outcome, r.message, r.failure, r.case) for r in ours.results]
    assert said == [(r.check, r.level, r.outcome, r.message, r.failure, r.case) for r in theirs.results]
    assert ours.exit_code is theirs.exit_code
    assert ours.totals == theirs.totals
    assert ours.header.subjects == theirs.header.subjects
    assert (ours.header.profile, ours.checks) == (theirs.header.profile, theirs.checks)


@pytest.mark.parametrize(
    ("name", "until"), [("Rude", None), ("Right", None), ("Crashes", None), ("Rude", "2020-01-31")]
)
def test_a_known_failure_counts_as_in_the_python_door(pytester: pytest.Pytester, name: str, until: str | None) -> None:
    ours = recorded(pytester, name, arguments="known_failures=KNOWN", until=until)
    known = {"TY-102": KnownFailure("it is rude", issue="toy/echo#1", until=until)}
    theirs = contracts.verify(echo, getattr(toy_adapters, name)(), profile="smoke", known_failures=known)
    assert [(r.check, r.level, r.outcome) for r in ours.results] == [
        (r.check, r.level, r.outcome) for r in theirs.results
    ]
    assert ours.exit_code is theirs.exit_code
    assert all(result.failure for result in ours.failures)


def test_it_names_the_pinned_version(pytester: pytest.Pytester) -> None:
    report = recorded(pytester, "Right", arguments="version='1.0'")
    [subject] = report.header.subjects
    assert (subject.contract_version, subject.declared, subject.selected) == ("1.0", 5, 5)
    assert "TY-104" in {result.check for result in report.results}


def test_every_adapter_has_its_own_column(pytester: pytest.Pytester) -> None:
    report = recorded(pytester, "Right", "Wrong")
    assert [subject.name for subject in report.header.subjects] == ["right", "wrong"]
    assert (report.counts["passed"], report.counts["failed"]) == (5, 5)


def test_a_session_that_is_stopped_leaves_a_truncated_report(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(FILE.format(adapters=("Wrong",), arguments="", until=None))
    pytester.runpytest_inprocess("--contracts-report", "report.jsonl", "-x")
    with pytest.raises(TruncatedReportError):
        read(pytester.path / "report.jsonl")


def test_a_file_that_cannot_be_read_leaves_a_truncated_report(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_broken="import nothing_of_that_name")
    pytester.runpytest_inprocess("--contracts-report", "report.jsonl").assert_outcomes(errors=1)
    with pytest.raises(TruncatedReportError):
        read(pytester.path / "report.jsonl")


def test_a_session_that_collects_nothing_at_all_leaves_a_truncated_report(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(FILE.format(adapters=("Right",), arguments="", until=None))
    pytester.runpytest_inprocess("--contracts-report", "report.jsonl", "--contracts-only", "TY-999")
    with pytest.raises(TruncatedReportError):
        read(pytester.path / "report.jsonl")


def test_deselected_checks_are_not_missed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(FILE.format(adapters=("Right",), arguments="", until=None))
    pytester.runpytest_inprocess("--contracts-report", "report.jsonl", "--contracts-only", "TY-102")
    report = read(pytester.path / "report.jsonl")
    assert [result.check for result in report.results] == ["TY-102"]
    assert (report.header.subjects[0].declared, report.header.subjects[0].selected) == (5, 1)
    assert report.exit_code is ExitCode.HOLDS
    assert [row.id for matrix in matrices(report) for row in matrix.rows] == ["TY-102"]


def test_other_tests_are_left_out(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_other(): assert False")
    pytester.runpytest_inprocess("--contracts-report", "report.jsonl").assert_outcomes(failed=1)
    assert read(pytester.path / "report.jsonl").results == []


def test_a_missing_folder_is_a_usage_error(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--contracts-report", "missing/report.jsonl")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --contracts-report: there is no folder missing"])
    assert not Path(pytester.path / "missing").exists()


def test_a_run_spread_over_processes_is_a_usage_error(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def pytest_addoption(parser): parser.addoption('--numprocesses')")
    result = pytester.runpytest_inprocess("--contracts-report", "report.jsonl", "--numprocesses", "2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --contracts-report: the checks of a report run in one process*"])
