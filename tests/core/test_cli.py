"""The command line on the toy room, in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from toy_echo import echo
from typer.testing import CliRunner

from contracts.cli import app
from contracts.report.report import ExitCode
from contracts.report.stream import read

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("toy_room")
Call = Callable[..., Any]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, words, catch_exceptions=False)


def adapter(name: str) -> tuple[str, str, str]:
    return "toy.echo", "--adapter", f"toy_adapters:{name}"


def last(result: Any) -> str:
    return result.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "code", "totals"),
    [
        ("Right", ExitCode.HOLDS, "5 passed, 0 failed, 0 known, 0 skipped"),
        ("Wrong", ExitCode.FAILED, "0 passed, 5 failed, 0 known, 0 skipped"),
        ("Hasty", ExitCode.HOLDS, "4 passed, 1 failed, 0 known, 0 skipped"),
        ("Lacks", ExitCode.HOLDS, "4 passed, 0 failed, 0 known, 1 skipped"),
        ("Expects", ExitCode.HOLDS, "4 passed, 0 failed, 1 known, 0 skipped"),
        ("Crashes", ExitCode.ERROR, "4 passed, 0 failed, 0 known, 0 skipped"),
        ("Exits", ExitCode.ERROR, "4 passed, 0 failed, 0 known, 0 skipped"),
        ("Hangs", ExitCode.ERROR, "4 passed, 0 failed, 0 known, 0 skipped"),
        ("several", ExitCode.FAILED, "5 passed, 5 failed, 0 known, 0 skipped"),
        ("Managed", ExitCode.HOLDS, "5 passed, 0 failed, 0 known, 0 skipped"),
        ("Closes", ExitCode.HOLDS, "5 passed, 0 failed, 0 known, 0 skipped"),
    ],
)
def test_run_ends_with_the_totals_and_its_verdict(call: Call, name: str, code: ExitCode, totals: str) -> None:
    result = call("run", *adapter(name), "--profile", "smoke")
    assert (result.exit_code, last(result)) == (code, totals)
    assert result.stdout.isascii()


def test_without_an_adapter_the_reference_is_held(call: Call) -> None:
    for words in (["run"], ["run", "toy"], ["run", "toy.echo"]):
        result = call(*words, "--profile", "smoke")
        assert (result.exit_code, last(result)) == (0, "5 passed, 0 failed, 0 known, 0 skipped")


def test_a_failure_is_shown_with_the_command_that_replays_it(call: Call) -> None:
    result = call("run", *adapter("WrongAbove"))
    assert "wrong above: TY-101 another number came back" in result.stdout
    assert (
        "python -m contracts run toy.echo --only TY-101 --adapter toy_adapters:WrongAbove --case '{\"value\": 43}'"
    ) in result.stdout


def test_what_fails_no_run_is_said_so(call: Call) -> None:
    assert "1 of the failed checks are SHOULD and do not fail the run" in call("run", *adapter("Hasty")).stdout
    assert "1 errors: the adapter or the harness broke" in call("run", *adapter("Crashes")).stdout


def test_only_and_case_limit_a_run(call: Call) -> None:
    result = call("run", *adapter("WrongAbove"), "--only", "TY-101, TY-102")
    assert last(result) == "1 passed, 1 failed, 0 known, 0 skipped"
    result = call("run", *adapter("WrongAbove"), "--only", "TY-101", "--case", '{"value": 42}')
    assert (result.exit_code, last(result)) == (0, "1 passed, 0 failed, 0 known, 0 skipped")


@pytest.mark.parametrize(
    ("name", "closing"), [("Closes", "closed\n"), ("Managed", "left\n"), ("Right", "")], ids=["close", "exit", "none"]
)
def test_an_adapter_is_closed(call: Call, name: str, closing: str) -> None:
    assert call("run", *adapter(name), "--profile", "smoke").stderr == closing


def test_mutants_prints_the_kill_matrix(call: Call) -> None:
    result = call("mutants", *adapter("Right"))
    assert (result.exit_code, last(result)) == (0, "6 killed, 0 survived, 0 inconclusive")
    assert "| TY-M101a | TY-101              | Adds one to every number" in result.stdout
    assert "controls: 1 held, 0 refused" in result.stdout


def test_mutants_without_a_baseline_are_incomplete(call: Call) -> None:
    result = call("mutants", *adapter("Rude"))
    assert (result.exit_code, last(result)) == (ExitCode.INCOMPLETE, "5 killed, 0 survived, 1 inconclusive")
    assert "rude: TY-M102a inconclusive: without the defect, TY-102 the greeting is wrong" in result.stdout


def test_mutants_of_some_checks(call: Call) -> None:
    assert last(call("mutants", *adapter("Right"), "--only", "TY-101")) == "2 killed, 0 survived, 0 inconclusive"


def test_list_prints_the_catalogue(call: Call) -> None:
    result = call("list")
    assert (result.exit_code, last(result)) == (0, f"{len(echo.checks)} checks, {len(echo.mutants)} mutants")
    [row] = [line for line in result.stdout.splitlines() if line.startswith("| TY-101")]
    assert "The echo gives back the number that it was given." in row
    assert "TY-M101a TY-M101b" in row
    assert "retired 1.1" in result.stdout
    assert call("list", "toy.echo").stdout == result.stdout


def test_explain_prints_everything_about_a_check(call: Call) -> None:
    result = call("explain", "TY-201")
    assert result.exit_code == 0
    for line in (
        "TY-201 MUST of toy.echo, since 1.0",
        "A batch comes back in its order.",
        "Why: answers are matched to questions by their place.",
        "Usual cause: a set.",
        "Source: toy/echo README - an echo gives back what it was given",
        "Needs: batches",
        "  TY-M201a: Gives a batch back from its end",
    ):
        assert line in result.stdout.splitlines()


def test_a_report_and_a_page_are_written(call: Call, tmp_path: Path) -> None:
    result = call("run", *adapter("Wrong"), "--report", "r.jsonl", "--html", "r.html", "--profile", "smoke")
    assert result.exit_code == 1
    report = read(tmp_path / "r.jsonl")
    assert report.totals == last(result)
    assert report.header.profile == "contracts-smoke"
    assert "0 passed, 5 failed" in (tmp_path / "r.html").read_text("utf-8")


def test_report_shows_and_combines_reports_with_their_verdict(call: Call, tmp_path: Path) -> None:
    for name in ("Right", "Rude"):
        call("run", *adapter(name), "--report", f"{name}.jsonl")
    one = call("report", "Right.jsonl")
    assert (one.exit_code, last(one)) == (0, "5 passed, 0 failed, 0 known, 0 skipped")
    both = call("report", "Right.jsonl", "Rude.jsonl", "--markdown", "r.md", "--badge", "b.json", "--html", "r.html")
    assert (both.exit_code, last(both)) == (1, "9 passed, 1 failed, 0 known, 0 skipped")
    assert (tmp_path / "r.md").read_text("utf-8").startswith("## 9 passed, 1 failed")
    assert json.loads((tmp_path / "b.json").read_text("utf-8"))["message"] == "MUST 7/8"
    assert "toy.echo 1.2" in (tmp_path / "r.html").read_text("utf-8")


def test_report_of_mutants(call: Call) -> None:
    call("mutants", *adapter("Right"), "--report", "m.jsonl")
    result = call("report", "m.jsonl")
    assert (result.exit_code, last(result)) == (0, "6 killed, 0 survived, 0 inconclusive")


def test_a_folder_stands_for_the_reports_in_it(call: Call, tmp_path: Path) -> None:
    reports = tmp_path / "reports"
    reports.mkdir()
    call("run", *adapter("Right"), "--report", "reports/cpu.jsonl")
    call("run", *adapter("Lacks"), "--report", "reports/gpu.jsonl")
    call("mutants", *adapter("Right"), "--report", "reports/mutants.jsonl")
    result = call("report", "reports", "--html", "all.html")
    assert last(result) == "9 passed, 0 failed, 0 known, 1 skipped; 6 killed, 0 survived, 0 inconclusive"
    assert result.exit_code == 0
    assert "toy.echo 1.2: mutants" in (tmp_path / "all.html").read_text("utf-8")
    twice = call("report", "reports", "reports/gpu.jsonl")
    assert twice.exit_code == ExitCode.ERROR
    assert "reports/gpu.jsonl and reports/gpu.jsonl; leave one of them out" in twice.stderr
    (tmp_path / "empty").mkdir()
    assert "there is no report, no .jsonl, in empty" in call("report", "empty").stderr


def test_the_schema_is_printed(call: Call) -> None:
    assert json.loads(call("report", "--schema").stdout)["$defs"]["footer"]["properties"]["complete"] == {"const": True}


def test_known_failures_are_read_from_pyproject(call: Call, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.contracts.known-failures]\nTY-102 = {reason = "it is rude", issue = "toy/echo#1"}\n'
    )
    result = call("run", *adapter("Rude"))
    assert (result.exit_code, last(result)) == (0, "4 passed, 0 failed, 1 known, 0 skipped")
    assert call("run", *adapter("Right")).exit_code == ExitCode.FAILED, "it is strict"
    assert call("run").exit_code == 0, "it says nothing about the reference"


def test_help_names_every_command_and_exit_code(call: Call) -> None:
    text = " ".join(call("--help").stdout.split())
    for word in ("list", "explain", "run", "mutants", "report", "4 incomplete run"):
        assert word in text
