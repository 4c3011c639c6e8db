from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from toy_adapters import Crashes, Hasty, Lacks, Right, Rude
from toy_echo import echo

import contracts
from contracts import Check, KnownFailure, Outcome
from contracts.contract import UnknownIdError
from contracts.known import known_failures_of
from contracts.report.records import Result
from contracts.report.report import ExitCode
from contracts.verification import Target, run

if TYPE_CHECKING:
    from pathlib import Path

KNOWN = KnownFailure("it is rude", issue="toy/echo#1")
LONG_AGO = "2020-01-31"


def result_of(adapter: Any, known: KnownFailure = KNOWN, check_id: str = "TY-102") -> tuple[Result, ExitCode]:
    report = contracts.verify(echo, adapter, only=[check_id], known_failures={check_id: known})
    [result] = report.results
    return result, report.exit_code


def test_the_failure_that_is_known_fails_no_run() -> None:
    result, code = result_of(Rude())
    assert (result.outcome, result.message, code) == (Outcome.KNOWN, "it is rude (toy/echo#1)", ExitCode.HOLDS)


def test_a_known_failure_that_passes_fails_the_run() -> None:
    result, code = result_of(Right())
    assert (result.outcome, code) == (Outcome.FAILED, ExitCode.FAILED)
    assert result.message == "the check passes although it is a known failure"
    assert "no entry for it: it is rude (toy/echo#1)" in result.failure


def test_a_known_failure_that_crashes_is_an_error() -> None:
    result, code = result_of(Crashes())
    assert (result.outcome, code) == (Outcome.ERROR, ExitCode.ERROR)


def test_a_known_failure_that_cannot_run_is_skipped() -> None:
    result, code = result_of(Lacks(), check_id="TY-201")
    assert (result.outcome, code) == (Outcome.SKIPPED, ExitCode.HOLDS)


def test_a_known_failure_does_not_cover_another_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(_check: Check[Any], _adapter: Any) -> None:
        raise echo["TY-103"].fail("something else", got=1, want=0)

    monkeypatch.setitem(echo._checks, "TY-102", replace(echo["TY-102"], function=other))  # noqa: SLF001 - a defect
    result, code = result_of(Rude())
    assert (result.outcome, result.message, code) == (Outcome.FAILED, "something else", ExitCode.FAILED)


@pytest.mark.parametrize("adapter", [Rude(), Right()], ids=["still failing", "fixed"])
def test_an_expired_known_failure_fails_the_run(adapter: Any) -> None:
    result, code = result_of(adapter, KnownFailure("it is rude", issue="toy/echo#1", until=LONG_AGO))
    assert (result.outcome, code) == (Outcome.FAILED, ExitCode.FAILED)
    assert result.message == f"the known failure ended on {LONG_AGO}"


@pytest.mark.parametrize(
    ("adapter", "until", "outcome", "code"),
    [
        (Hasty(), None, Outcome.KNOWN, ExitCode.HOLDS),
        (Right(), None, Outcome.FAILED, ExitCode.FAILED),
        (Hasty(), LONG_AGO, Outcome.FAILED, ExitCode.FAILED),
    ],
    ids=["failing", "fixed", "expired"],
)
def test_it_is_strict_for_a_should_too(adapter: Any, until: str | None, outcome: Outcome, code: ExitCode) -> None:
    result, verdict = result_of(adapter, KnownFailure("hasty", issue="toy/echo#3", until=until), "TY-301")
    assert (result.outcome, verdict) == (outcome, code)


def test_an_unknown_id_is_an_error_before_anything_runs() -> None:
    with pytest.raises(UnknownIdError, match=r"toy\.echo has no check 'TY-999'"):
        contracts.verify(echo, Crashes(), known_failures={"TY-999": KNOWN})


def test_the_last_day_still_counts() -> None:
    known = KnownFailure("r", issue="i", until="2027-03-01")
    assert not known.expired(dt.date(2027, 3, 1))
    assert known.expired(dt.date(2027, 3, 2))
    assert not KNOWN.expired(dt.date(9999, 1, 1))


@pytest.mark.parametrize(
    "fields",
    [{"reason": "", "issue": "i"}, {"reason": "r", "issue": " "}, {"reason": "r", "issue": "i", "until": "soon"}],
)
def test_a_known_failure_has_a_reason_an_issue_and_a_real_date(fields: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="KnownFailure"):
        KnownFailure(**fields)


def written(folder: Path, text: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text(text)
    return path


def test_the_table_in_pyproject_is_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        [tool.contracts.known-failures]
        GO-007 = {reason = "drops the id", issue = "acme/rl#12", until = "2027-03-01"}
        GO-008 = {reason = "r", issue = "i"}
        """,
    )
    assert known_failures_of(path) == {
        "GO-007": KnownFailure("drops the id", issue="acme/rl#12", until="2027-03-01"),
        "GO-008": KnownFailure("r", issue="i"),
    }


@pytest.mark.parametrize("text", ["", "[tool.other]\nx = 1", "[tool.contracts]"])
def test_no_table_is_no_known_failure(tmp_path: Path, text: str) -> None:
    assert known_failures_of(written(tmp_path, text)) == {}


def test_no_file_is_no_known_failure(tmp_path: Path) -> None:
    assert known_failures_of(tmp_path / "pyproject.toml") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool", "is not valid TOML"),
        ("tool = 1", r"\[tool\] must be a table, got 1"),
        ("[tool]\ncontracts = 'x'", r"\[tool.contracts\] must be a table, got 'x'"),
        ("[tool.contracts]\nknown-failures = ['GO-007']", r"\[tool.contracts.known-failures\] must be a table"),
        ("[tool.contracts.known-failures]\nGO-007 = 'r'", "GO-007: got 'r'; write GO-007 = "),
        ("[tool.contracts.known-failures]\nGO-007 = {reason = 'r'}", "GO-007: .*'issue'"),
        ("[tool.contracts.known-failures]\nGO-007 = {reason = 'r', issue = 7}", "GO-007: got {'reason': 'r', 'is"),
        ("[tool.contracts.known-failures]\nGO-007 = {reason = 'r', issue = 'i', till = 'x'}", "GO-007: .*'till'"),
        ("[tool.contracts.known-failures]\nGO-007 = {reason = 'r', issue = 'i', until = 'x'}", "YYYY-MM-DD, got 'x'"),
        ("[tool.contracts.known-failures]\nGO-007 = {reason = 'r', issue = 'i', until = 2027-03-01}", "GO-007: got"),
    ],
)
def test_a_malformed_table_is_one_clear_error_with_the_file(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ValueError, match=message) as caught:
        known_failures_of(path)
    assert str(path) in str(caught.value)


def test_the_runner_takes_known_failures_per_target() -> None:
    targets = [Target(echo, Rude(), known_failures={"TY-102": KNOWN}), Target(echo, Right())]
    outcomes = [event.outcome for event in run(targets) if isinstance(event, Result) and event.check == "TY-102"]
    assert outcomes == [Outcome.KNOWN, Outcome.PASSED]
