"""The mutants of a check that is a known failure: without the defect it fails already, so there is nothing to try."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import toy_adapters as zoo
from toy_echo import echo
from typer.testing import CliRunner

import contracts
from contracts import Check, KnownFailure, NotDeclared, Report
from contracts.cli import app
from contracts.contract import UnknownIdError
from contracts.mutant import Inconclusive, Proof, expecting
from contracts.report.combination import combined
from contracts.report.html import as_html
from contracts.report.markdown import as_markdown
from contracts.report.matrix import matrices
from contracts.report.report import ExitCode
from contracts.report.stream import read
from contracts.report.summary import standings
from contracts.report.terminal import as_text

if TYPE_CHECKING:
    from pathlib import Path

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("toy_room")

RUDE = KnownFailure("it is rude", issue="toy/echo#1")
ENDED = KnownFailure("it is rude", issue="toy/echo#1", until="2020-01-31")
TABLE = '[tool.contracts.known-failures]\nTY-102 = {reason = "it is rude", issue = "toy/echo#1"}\n'
REASON = "TY-102 is a known failure here: it is rude (toy/echo#1)"


def knowing(seed_id: str, known: KnownFailure = RUDE) -> Any:
    """The mutant, or control, of that id, whose check is known to fail."""
    [seed] = [seed for seed in (*echo.mutants, *echo.controls) if seed.id == seed_id]
    return expecting([seed], {seed.killed_by: known})[0]


def test_what_fails_as_is_known_is_not_tried() -> None:
    mutant = knowing("TY-M102a")
    result = mutant.prove(zoo.Rude())
    assert (result.proof, result.reason) == (Proof.SKIPPED, REASON)
    with pytest.raises(Inconclusive, match=r"TY-M102a \(Says nothing when greeted\): TY-102 is a known failure here"):
        mutant.verify_killed(zoo.Rude())


def test_a_control_of_it_is_not_tried_either() -> None:
    control = knowing("TY-C103a")
    assert control.prove(zoo.Wrong()).proof is Proof.SKIPPED
    with pytest.raises(Inconclusive, match="TY-103 is a known failure here"):
        control.verify_held(zoo.Wrong())


def test_what_passes_without_the_defect_is_tried_as_ever() -> None:
    assert knowing("TY-M102a").prove(zoo.Right()).proof is Proof.KILLED
    assert knowing("TY-C103a").prove(zoo.Right()).proof is Proof.HELD
    # Its known failure lies above 42, and the witness below.
    assert knowing("TY-M101a").prove(zoo.WrongAbove()).proof is Proof.KILLED


def test_only_the_failure_that_is_known_is_left_out() -> None:
    assert knowing("TY-M102a").prove(zoo.Crashes()).proof is Proof.INCONCLUSIVE
    assert knowing("TY-M102a", ENDED).prove(zoo.Rude()).proof is Proof.INCONCLUSIVE

    def other(_check: Check[Any], _adapter: Any) -> None:
        raise echo["TY-103"].fail("something else", got=1, want=0)

    mutant = knowing("TY-M102a")
    result = replace(mutant, check=replace(mutant.check, function=other)).prove(zoo.Rude())
    assert (result.proof, result.reason) == (Proof.INCONCLUSIVE, "without the defect, TY-103 something else")


def test_a_capability_that_is_not_declared_comes_first() -> None:
    with pytest.raises(NotDeclared, match="TY-201 needs batches"):
        knowing("TY-M201a").verify_killed(zoo.Lacks())


def test_mutants_of_other_checks_stay_what_they_are() -> None:
    tried = expecting(echo.mutants, {"TY-102": RUDE})
    assert [mutant.id for mutant in tried if mutant not in echo.mutants] == ["TY-M102a"]


def rude(known: dict[str, KnownFailure]) -> Report:
    return contracts.verify_mutants(echo, zoo.Rude(), known_failures=known)


def test_they_do_not_make_a_run_incomplete() -> None:
    report = rude({"TY-102": RUDE})
    assert (report.totals, report.proofs["skipped"]) == ("5 killed, 0 survived, 0 inconclusive", 1)
    assert report.exit_code is ExitCode.HOLDS
    assert report.raise_for_failures() is None
    assert rude({"TY-102": ENDED}).exit_code is rude({}).exit_code is ExitCode.INCOMPLETE
    with pytest.raises(UnknownIdError, match=r"toy\.echo has no check 'TY-999'"):
        rude({"TY-999": RUDE})


Call = Callable[..., Any]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run ``contracts mutants`` on an adapter, in a folder that expects TY-102 to fail."""
    (tmp_path / "pyproject.toml").write_text(TABLE)
    monkeypatch.chdir(tmp_path)

    def run(adapter: str) -> Any:
        words = ["mutants", "toy.echo", "--adapter", f"toy_adapters:{adapter}", "--report", "m.jsonl"]
        return CliRunner().invoke(app, words, catch_exceptions=False)

    return run


def test_the_command_line_reads_the_table(call: Call, tmp_path: Path) -> None:
    result = call("Rude")
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "5 killed, 0 survived, 0 inconclusive")
    assert f"rude: 1 not tried: {REASON}" in result.stdout
    report = read(tmp_path / "m.jsonl")
    assert [mutant.reason for mutant in report.mutants if mutant.proof == "skipped"] == [REASON]
    assert report.exit_code is ExitCode.HOLDS
    assert call("Right").stdout.splitlines()[-1] == "6 killed, 0 survived, 0 inconclusive", "it is tried once it holds"


def test_the_command_line_hears_what_an_adapter_expects(call: Call, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").unlink()
    assert call("Rude").exit_code == ExitCode.INCOMPLETE
    assert call("Expects").exit_code == ExitCode.HOLDS


FILE = """
import pytest
import toy_adapters
from toy_echo import echo
from contracts import KnownFailure

@pytest.fixture
def adapter():
    return toy_adapters.{adapter}()

@echo.parametrize_mutants({arguments})
def test_mutant(adapter, mutant):
    mutant.verify_killed(adapter)

@echo.parametrize_controls({arguments})
def test_control(adapter, control):
    control.verify_held(adapter)
"""


def door(pytester: pytest.Pytester, table: str, arguments: str = "", adapter: str = "Rude") -> pytest.RunResult:
    pytester.makefile(".toml", pyproject=f"[tool.pytest]\n{table}")
    pytester.makepyfile(test_door=FILE.format(adapter=adapter, arguments=arguments))
    return pytester.runpytest_inprocess("-rs", "--contracts-report", "report.jsonl")


@pytest.mark.parametrize(
    ("table", "arguments"),
    [(TABLE, ""), ("", "known_failures={'TY-102': KnownFailure('it is rude', issue='toy/echo#1')}")],
    ids=["table", "call"],
)
def test_pytest_says_what_the_python_door_says(pytester: pytest.Pytester, table: str, arguments: str) -> None:
    result = door(pytester, table, arguments)
    result.assert_outcomes(passed=6, skipped=1)
    result.stdout.fnmatch_lines([f"SKIPPED*TY-M102a*: {REASON}"])
    ours, theirs = read(pytester.path / "report.jsonl"), rude({"TY-102": RUDE})
    told = [[(m.mutant, m.control, m.proof, m.reason) for m in report.mutants] for report in (ours, theirs)]
    assert told[0] == told[1]
    assert (ours.totals, ours.exit_code) == (theirs.totals, ExitCode.HOLDS)


def test_what_a_test_names_stands_instead_of_the_table(pytester: pytest.Pytester) -> None:
    door(pytester, TABLE, "known_failures={}").assert_outcomes(passed=6, skipped=1)
    assert read(pytester.path / "report.jsonl").exit_code is ExitCode.INCOMPLETE


def test_controls_read_the_table_too(pytester: pytest.Pytester) -> None:
    table = TABLE.replace("TY-102", "TY-103")
    door(pytester, table, adapter="Wrong")
    [control] = [mutant for mutant in read(pytester.path / "report.jsonl").mutants if mutant.control]
    assert (control.proof, control.reason.partition(":")[0]) == ("skipped", "TY-103 is a known failure here")


def test_every_view_says_what_was_not_tried_and_why() -> None:
    report = rude({"TY-102": RUDE})
    text, markdown, html = as_text(report), as_markdown(report), as_html(report)
    for view in (text, markdown):
        [row] = [line for line in view.splitlines() if line.startswith("| TY-M102a")]
        assert row.rstrip("| ").endswith("| not tried")
    assert f"rude: 1 not tried: {REASON}" in text
    assert "- rude: 1 not tried: TY-102 is a known failure here: it is rude (toy/echo\\#1)" in markdown
    assert f'title="TY-M102a not tried on rude: Says nothing when greeted; {REASON}"' in html
    assert f"<li>rude: 1 not tried: {REASON}</li>" in html
    assert "inconclusive on" not in html


def test_a_reason_is_told_once_for_all_that_it_is_about() -> None:
    report = contracts.verify_mutants(echo, zoo.Wrong(), known_failures={"TY-101": RUDE})
    assert "wrong: 2 not tried: TY-101 is a known failure here: it is rude (toy/echo#1)\n" in as_text(report)


def test_a_row_that_was_left_out_for_a_reason_needs_no_look() -> None:
    [matrix] = matrices(combined([rude({"TY-102": RUDE}), contracts.verify_mutants(echo, zoo.Right())]))
    assert all(row.clean for row in matrix.rows)
    part = contracts.verify_mutants(echo, zoo.Right(), only=["TY-101"])
    [matrix] = matrices(combined([rude({"TY-102": RUDE}), part]))
    assert [row.id for row in matrix.rows if row.clean] == ["TY-M101a", "TY-M101b"], "nobody asked for the others"


def test_checks_and_mutants_of_it_become_one_report_that_holds() -> None:
    held = contracts.verify(echo, zoo.Rude(), profile="smoke", known_failures={"TY-102": RUDE})
    whole = combined([held, rude({"TY-102": RUDE})])
    assert whole.totals == "4 passed, 0 failed, 1 known, 0 skipped; 5 killed, 0 survived, 0 inconclusive"
    assert whole.exit_code is ExitCode.HOLDS
    [line] = standings(whole)
    assert (line.must, line.known, line.killed, line.holds) == ("3/4", 1, "5/5", True)
