"""Known failures are kept in one place, the downstream's ``pyproject.toml``, for pytest as for the command line."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from contracts import rooms
from contracts.cli import app

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("toy_room")

TABLE = '[tool.contracts.known-failures]\nTY-102 = {reason = "it is rude", issue = "toy/echo#1"}\n'
FILE = """
import pytest
import toy_adapters
from toy_echo import echo
from contracts import KnownFailure

@pytest.fixture
def adapter():
    return toy_adapters.Rude()

@echo.parametrize(%s)
def test_echo(adapter, check):
    check.verify(adapter)
"""


def run(pytester: pytest.Pytester, table: str, arguments: str = "") -> pytest.RunResult:
    pytester.makefile(".toml", pyproject=f"[tool.pytest]\n{table}")
    pytester.makepyfile(test_door=FILE % arguments)
    return pytester.runpytest_inprocess("-rA")


def test_pytest_and_the_command_line_read_one_table(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(pytester, TABLE)
    result.assert_outcomes(passed=4, xfailed=1)
    result.stdout.fnmatch_lines(["XFAIL test_door.py::test_echo[[]TY-102[]] - it is rude (toy/echo#1)"])
    monkeypatch.chdir(pytester.path)
    command = ["run", "toy.echo", "--adapter", "toy_adapters:Rude", "--profile", "smoke"]
    assert CliRunner().invoke(app, command).stdout.splitlines()[-1] == "4 passed, 0 failed, 1 known, 0 skipped"


def test_the_table_of_the_root_folder_counts_wherever_pytest_is_started(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    (pytester.path / "pyproject.toml").write_text(f"[tool.pytest]\n{TABLE}")
    inner = pytester.mkdir("inner")
    (inner / "test_door.py").write_text(FILE % "")
    monkeypatch.chdir(inner)
    pytester.runpytest_inprocess("-rA").assert_outcomes(passed=4, xfailed=1)


def test_what_the_call_names_stands_instead_of_the_table(pytester: pytest.Pytester) -> None:
    run(pytester, TABLE, "known_failures={}").assert_outcomes(passed=4, failed=1)


def test_a_project_without_the_table_knows_no_failure(pytester: pytest.Pytester) -> None:
    run(pytester, "").assert_outcomes(passed=4, failed=1)


def test_an_entry_for_another_room_is_left_to_it(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rooms.PREFIXES, "gym_overflow", "GO")
    entry = "GO-999 = {reason = 'r', issue = 'i'}\n"
    run(pytester, TABLE + entry).assert_outcomes(passed=4, xfailed=1)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("TY-999 = {reason = 'r', issue = 'i'}", "names TY-999, which does not exist"),
        ("TY-101 = {reason = 'r'}", "TY-101: "),
    ],
)
def test_a_faulty_entry_is_an_error_that_names_the_file(pytester: pytest.Pytester, entry: str, message: str) -> None:
    result = run(pytester, TABLE + entry)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([f"E*{pytester.path}/pyproject.toml: [[]tool.contracts.known-failures[]] {message}*"])
