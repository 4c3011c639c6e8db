"""The command line as a process: signals, pipes and entry points."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from contracts.report.report import ExitCode
from contracts.report.stream import TruncatedReportError, read

SLOW = """
import time
from pathlib import Path

from toy_adapters import Right


class Slow(Right):
    \"\"\"Waits when it is greeted, and says that it does.\"\"\"

    name = "slow"

    def greet(self):
        Path("waiting").touch()
        time.sleep(600)

    def close(self):
        Path("closed").touch()
"""


def started(words: list[str], environment: dict[str, str], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "toy_cli", *words],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def interrupted(command: str, environment: dict[str, str], folder: Path) -> tuple[int, str, str]:
    """Exit code, output and errors of a run that gets Ctrl-C in its second check."""
    (folder / "slow_toy.py").write_text(SLOW)
    words = [command, "toy.echo", "--adapter", "slow_toy:Slow", "--report", "cut.jsonl"]
    process = started(words, {**environment, "TOY_LIMIT": "600"}, folder)
    end = time.monotonic() + 60
    while not (folder / "waiting").exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def test_ctrl_c_leaves_a_truncated_report_that_is_named_as_such(
    zoo_environment: dict[str, str], tmp_path: Path
) -> None:
    code, out, err = interrupted("run", zoo_environment, tmp_path)
    assert code == ExitCode.INCOMPLETE
    assert out.splitlines()[-1] == "1 passed, 0 failed, 0 known, 0 skipped"
    assert err == "error: interrupted after 1 of 5 checks\n"
    assert (tmp_path / "closed").exists(), "the adapter is closed all the same"
    with pytest.raises(TruncatedReportError):
        read(tmp_path / "cut.jsonl")
    process = started(["report", "cut.jsonl"], zoo_environment, tmp_path)
    out, err = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INCOMPLETE
    assert err == "error: cut.jsonl:7: no footer: the run behind this report did not end\n"


def test_ctrl_c_ends_the_mutants_too(zoo_environment: dict[str, str], tmp_path: Path) -> None:
    code, out, err = interrupted("mutants", zoo_environment, tmp_path)
    assert code == ExitCode.INCOMPLETE
    assert out.splitlines()[-1] == "2 killed, 0 survived, 0 inconclusive"
    assert err == "error: interrupted after 2 of 7 mutants\n"


@pytest.mark.parametrize("words", ["run toy.echo", "list", "mutants toy.echo", "explain TY-101", "report --schema"])
def test_a_reader_that_leaves_gets_no_traceback(words: str, zoo_environment: dict[str, str], tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "toy_cli", *words.split()]
    with os.fdopen(writing, "w") as stdout:
        done = subprocess.run(  # noqa: S603 - our own command
            command, env=zoo_environment, cwd=tmp_path, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.stderr == ""


def test_head_gets_its_line(zoo_environment: dict[str, str], tmp_path: Path) -> None:
    command = f"{sys.executable} -m toy_cli list | head -1"
    done = subprocess.run(  # noqa: S603 - our own command
        ["/bin/sh", "-c", command], env=zoo_environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("toy.echo 1.2: An echo against what it was given")
    assert done.stderr == ""


def test_output_into_a_pipe_is_plain_ascii(zoo_environment: dict[str, str], tmp_path: Path) -> None:
    process = started(["run", "toy.echo", "--adapter", "toy_adapters:Wrong"], zoo_environment, tmp_path)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (ExitCode.FAILED, "")
    assert out.isascii()
    assert "\x1b" not in out


def test_an_adapter_of_the_current_folder_is_found(zoo_environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "here.py").write_text("from toy_adapters import Rude as mine\n")
    process = started(["run", "toy.echo", "--adapter", "here:mine"], zoo_environment, tmp_path)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == ExitCode.FAILED
    assert "rude: TY-102 the greeting is wrong" in out


@pytest.mark.parametrize("command", [["-m", "contracts"], [str(Path(sys.executable).with_name("contracts"))]])
def test_both_names_of_the_command_work(command: list[str], tmp_path: Path) -> None:
    words = [sys.executable, *command] if command[0] == "-m" else command
    done = subprocess.run([*words, "report", "--schema"], cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603 - our own command
    assert done.stdout.startswith("{")


def test_a_real_room_runs_and_replays(tmp_path: Path) -> None:
    def called(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "contracts", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603 - our own command

    listed = called("list", "gym_overflow.endpoint")
    first = next(word for word in listed.stdout.split() if word.startswith("GO-"))
    assert called("explain", first).stdout.startswith(f"{first} MUST of gym_overflow.endpoint, since 1.0")
    done = called("run", "gym_overflow.endpoint", "--only", first, "--profile", "smoke", "--report", "r.jsonl")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1 passed, 0 failed, 0 known, 0 skipped")
    assert read(tmp_path / "r.jsonl").header.subjects[0].contract == "gym_overflow.endpoint"
    proved = called("mutants", "gym_overflow.endpoint", "--only", first)
    assert proved.returncode == 0
    assert proved.stdout.splitlines()[-1].endswith(" killed, 0 survived, 0 inconclusive")
