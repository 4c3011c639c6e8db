"""What the command line says to bad input: one clear line on standard error, and the right exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
import toy_echo
from typer.testing import CliRunner

import contracts
from contracts import cli, rooms
from contracts.cli import app
from contracts.report.report import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("toy_room")
Refused = Callable[..., str]
TOY = ("toy.echo", "--adapter")


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Refused:
    """The one line of error that a command line gets, with its exit code checked."""
    monkeypatch.chdir(tmp_path)

    def call(code: ExitCode, *words: str) -> str:
        result = CliRunner().invoke(app, words, catch_exceptions=False)
        assert result.exit_code == code, result.output
        [line] = result.stderr.splitlines()
        assert line.startswith("error: ")
        return line.removeprefix("error: ")

    return call


@pytest.mark.parametrize("command", ["run", "mutants", "list"])
def test_an_unknown_room(refused: Refused, command: str) -> None:
    assert refused(ExitCode.USAGE, command, "toyy") == "no room or contract 'toyy'; there are toy.echo"
    assert refused(ExitCode.USAGE, command, "toy.other") == "no room or contract 'toy.other'; there are toy.echo"


def test_an_unknown_check(refused: Refused) -> None:
    assert refused(ExitCode.USAGE, "explain", "TY-999") == "no check 'TY-999'; `contracts list` shows all"
    expected = "no check TY-999 in toy.echo; `contracts list` shows all"
    assert refused(ExitCode.USAGE, "run", "--only", "TY-101,TY-999") == expected
    assert refused(ExitCode.USAGE, "mutants", "--only", "TY-999") == expected


def test_a_retired_check_cannot_be_run(refused: Refused) -> None:
    assert "no check TY-104 in toy.echo" in refused(ExitCode.USAGE, "run", "--only", "TY-104")


def test_a_case_without_its_check(refused: Refused) -> None:
    assert "a case belongs to one check: name it with only= (--only" in refused(ExitCode.USAGE, "run", "--case", "{}")


@pytest.mark.parametrize(
    ("check_id", "case", "message"),
    [
        ("TY-101", "{", "not a Number: the case: Invalid JSON"),
        ("TY-101", "{}", "not a Number: value: Field required"),
        ("TY-101", '{"value": 1, "valeu": 2}', "not a Number: it has no valeu"),
        ("TY-102", "{}", "TY-102 takes no case"),
    ],
)
def test_a_malformed_case(refused: Refused, check_id: str, case: str, message: str) -> None:
    assert refused(ExitCode.USAGE, "run", "--only", check_id, "--case", case).startswith(message)


def test_a_malformed_case_leaves_an_older_report_alone(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").write_text("old")
    refused(ExitCode.USAGE, "run", "--only", "TY-101", "--case", "{}", "--report", "old.jsonl")
    assert (tmp_path / "old.jsonl").read_text() == "old"


@pytest.mark.parametrize("name", ["toy_adapters", "toy_adapters:", ":right", ":"])
def test_a_factory_that_is_no_factory(refused: Refused, name: str) -> None:
    assert refused(ExitCode.ERROR, "run", *TOY, name) == f"--adapter takes package.module:factory, got {name!r}"


@pytest.mark.parametrize("option", ["--adapter", "--only", "--gym"])
@pytest.mark.parametrize("command", ["run", "mutants"])
@pytest.mark.parametrize("value", ["", " ", ","])
def test_an_empty_option_does_not_stand_for_its_default(
    refused: Refused, command: str, option: str, value: str
) -> None:
    assert refused(ExitCode.USAGE, command, option, value) == f"{option} is empty; leave it out, or name one"


def test_a_module_that_is_not_there(refused: Refused) -> None:
    line = refused(ExitCode.ERROR, "run", *TOY, "no_such_module:factory")
    assert line.startswith(
        "cannot import no_such_module: No module named 'no_such_module'; is no_such_module installed?"
    )


def test_a_factory_that_is_not_there(refused: Refused) -> None:
    assert refused(ExitCode.ERROR, "run", *TOY, "toy_adapters:lost") == "toy_adapters has no 'lost'"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("import no_such_dependency", "No module named 'no_such_dependency'; is no_such_dependency installed?"),
        ("def factory(:", "SyntaxError: "),
        ("None.missing", "AttributeError: 'NoneType' object has no attribute 'missing'"),
        ("raise SystemExit(0)", "SystemExit: 0"),
    ],
    ids=["a lost dependency", "a syntax error", "a crash", "an exit"],
)
def test_a_module_that_breaks_while_it_is_imported(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "broken_toy.py").write_text(body + "\n")
    line = refused(ExitCode.ERROR, "run", *TOY, "broken_toy:factory")
    assert line.startswith(f"cannot import broken_toy: {message}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("unbuildable", "toy_adapters:unbuildable() failed: OSError: no echo here"),
        ("sys", "toy_adapters:sys() failed: TypeError: 'module' object is not callable"),
        ("BreaksOnClose", "toy_adapters:BreaksOnClose could not be closed: OSError: the door is stuck"),
        ("BreaksOnEnter", "toy_adapters:BreaksOnEnter could not be opened: OSError: the door is shut"),
        ("Unknown", "the adapter declares unknown capabilities bathces; toy.echo knows batches"),
        ("ExpectsUnknown", "toy.echo has no check 'TY-999'; it has TY-101, TY-102, TY-103, TY-104, TY-201, TY-301"),
    ],
)
def test_an_adapter_that_cannot_be_used(refused: Refused, name: str, message: str) -> None:
    assert refused(ExitCode.ERROR, "run", *TOY, f"toy_adapters:{name}", "--profile", "smoke") == message
    assert refused(ExitCode.ERROR, "mutants", *TOY, f"toy_adapters:{name}") == message


def test_two_adapters_of_one_name(refused: Refused) -> None:
    line = refused(ExitCode.USAGE, "run", *TOY, "toy_adapters:twins")
    assert line == "two adapters of one contract have the same name"


def test_an_adapter_for_several_sides(refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rooms.ROOMS, "toy", ("echo", "twin"))
    monkeypatch.setattr(toy_echo, "twin", toy_echo.echo, raising=False)
    line = refused(ExitCode.USAGE, "run", "toy", "--adapter", "toy_adapters:right")
    assert line.startswith("--adapter needs one side: ")


@pytest.mark.parametrize("option", ["--report", "--html"])
@pytest.mark.parametrize("command", ["run", "mutants"])
def test_a_missing_folder_is_found_before_anything_runs(refused: Refused, command: str, option: str) -> None:
    line = refused(ExitCode.USAGE, command, *TOY, "toy_adapters:Hangs", option, "missing/file")
    assert line == f"{option}: there is no folder missing"


@pytest.mark.parametrize("command", ["run", "mutants"])
def test_a_report_that_cannot_be_written(refused: Refused, tmp_path: Path, command: str) -> None:
    (tmp_path / "folder").mkdir()
    assert "Is a directory: 'folder'" in refused(ExitCode.USAGE, command, "--report", "folder")


def test_gyms_belong_to_one_room(refused: Refused) -> None:
    assert refused(ExitCode.USAGE, "run", "--gym", "0.7.0") == "--gym concerns the room gym_overflow only"


def test_report_needs_a_report(refused: Refused) -> None:
    assert refused(ExitCode.USAGE, "report") == "name at least one report"
    assert refused(ExitCode.ERROR, "report", "absent.jsonl").startswith("cannot read absent.jsonl")


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("", ExitCode.ERROR, "r.jsonl does not begin with a header: it is no report"),
        ("garbage\n", ExitCode.ERROR, "r.jsonl:1: not JSON: "),
        ('{"type": "footer", "counts": {}, "complete": true}\n', ExitCode.ERROR, "r.jsonl:1: r.jsonl does not begin"),
    ],
)
def test_a_file_that_is_no_report(refused: Refused, tmp_path: Path, text: str, code: ExitCode, message: str) -> None:
    (tmp_path / "r.jsonl").write_text(text)
    assert refused(code, "report", "r.jsonl").startswith(message)


@pytest.mark.parametrize("option", ["--html", "--markdown", "--badge"])
def test_a_view_that_cannot_be_written(refused: Refused, option: str) -> None:
    CliRunner().invoke(app, ["run", "--profile", "smoke", "--report", "r.jsonl"], catch_exceptions=False)
    assert "No such file or directory: 'missing/view'" in refused(
        ExitCode.USAGE, "report", "r.jsonl", option, "missing/view"
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("TY-999 = {reason = 'r', issue = 'i'}", "[tool.contracts.known-failures] names TY-999, which does not exist"),
        ("ty-101 = {reason = 'r', issue = 'i'}", "[tool.contracts.known-failures] names ty-101, which does not exist"),
        ("TY-101 = {reason = 'r'}", "[tool.contracts.known-failures] TY-101: "),
        ("TY-101 = 7", "[tool.contracts.known-failures] TY-101: got 7; write TY-101 = "),
    ],
)
def test_a_faulty_table_of_known_failures(refused: Refused, tmp_path: Path, table: str, message: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.contracts.known-failures]\n{table}\n")
    assert f"pyproject.toml: {message}" in refused(ExitCode.USAGE, "run", *TOY, "toy_adapters:Right")


def test_a_known_failure_of_another_room_is_left_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(rooms.PREFIXES, "gym_overflow", "GO")
    (tmp_path / "pyproject.toml").write_text("[tool.contracts.known-failures]\nGO-999 = {reason = 'r', issue = 'i'}\n")
    result = CliRunner().invoke(app, ["run", *TOY, "toy_adapters:Right", "--profile", "smoke"], catch_exceptions=False)
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize("command", [["run"], ["mutants"], ["list", "needy_room"]], ids=" ".join)
def test_a_room_whose_needs_are_not_installed(
    refused: Refused, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: list[str]
) -> None:
    monkeypatch.setattr(rooms, "ROOMS", {"needy_room": ("side",)})
    (tmp_path / "needy_room.py").write_text("import no_such_library\n")
    monkeypatch.setattr(contracts, "__path__", [*contracts.__path__, str(tmp_path)])
    assert refused(ExitCode.ERROR, *command) == (
        "the room needy_room needs no_such_library, which is not installed: pip install 'rl-contracts[needy-room]'"
    )


def test_the_other_rooms_are_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(rooms, "ROOMS", {**rooms.ROOMS, "needy_room": ("side",)})
    (tmp_path / "needy_room.py").write_text("import no_such_library\n")
    monkeypatch.setattr(contracts, "__path__", [*contracts.__path__, str(tmp_path)])
    result = CliRunner().invoke(app, ["list"], catch_exceptions=False)
    assert result.exit_code == 0
    assert "not listed: the room needy_room needs no_such_library" in result.stderr
    assert "TY-101" in result.stdout


def test_a_command_whose_needs_are_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def compare() -> None:
        raise ModuleNotFoundError("No module named 'numpy'", name="numpy")

    monkeypatch.setattr(cli, "app", compare)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == ExitCode.ERROR
    assert capsys.readouterr().err.startswith("error: this command needs numpy, which is not installed; a room's needs")


@pytest.mark.parametrize(
    "words",
    [["run", "--profile", "thorough"], ["run", "--nothing"], ["explain"], ["nothing"], ["run", "--only"]],
    ids=" ".join,
)
def test_what_the_parser_refuses_is_a_usage_error(words: list[str]) -> None:
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == ExitCode.USAGE
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
