"""The replay line of a failure, run: it fails again, on exactly the case that it shows."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import pytest
from toy_adapters import Right, Wrong, WrongAbove
from toy_echo import Number, echo

import contracts
from contracts import Check, ContractFailure
from contracts.failure import Invocation, invoked_as


def failure_of(check: Check[Any], adapter: Any) -> ContractFailure:
    with pytest.raises(ContractFailure) as caught:
        check.verify(adapter)
    return caught.value


class Recording(WrongAbove):
    def __init__(self) -> None:
        self.asked: list[int] = []

    def echo(self, value: int) -> int:
        self.asked.append(value)
        return super().echo(value)


@pytest.mark.usefixtures("toy_room")
def test_the_line_of_python_replays_the_case_alone() -> None:
    failure = failure_of(echo["TY-101"], WrongAbove())
    adapter = Recording()
    with pytest.raises(ContractFailure) as caught:
        eval(failure.replay, {"contracts": contracts, "adapter": adapter})  # noqa: S307 - the line is the claim
    assert adapter.asked == [43]
    assert str(caught.value) == str(failure)


@pytest.mark.usefixtures("toy_room")
def test_the_line_of_python_replays_a_check_without_a_case() -> None:
    failure = failure_of(echo["TY-102"], Wrong())
    assert failure.replay == "contracts.load('toy.echo')['TY-102'].verify(adapter)"
    with pytest.raises(ContractFailure, match="TY-102"):
        eval(failure.replay, {"contracts": contracts, "adapter": Wrong()})  # noqa: S307 - the line is the claim


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Quoted:
    text: str


@pytest.mark.parametrize(
    "case", ['it\'s "here"', "", "{}", Colour.RED, Quoted("it's $HOME; `ls`\n\\"), 7, -1.5], ids=repr
)
def test_every_kind_of_case_comes_back_through_both_lines(case: object) -> None:
    seen = []

    def refuse(check: Check[Any], _adapter: Any, given: object) -> None:
        seen.append(given)
        raise check.fail("refused", got=1, want=2)

    check = replace(echo["TY-101"], function=refuse, examples=(case,), cases=None)
    failure = failure_of(check, Right())
    call = failure.replay.partition(".verify")[2]
    with pytest.raises(ContractFailure):
        eval(f"check.verify{call}", {"check": check, "adapter": Right()})  # noqa: S307 - the line is the claim
    with invoked_as(Invocation("toy_adapters:right", ("--gym", "a b"))):
        words = shlex.split(failure.replay)
    assert words[:-1] == [
        *(
            [
                "python",
                "-m",
                "contracts",
                "run",
                "toy.echo",
                "--only",
                "TY-101",
                "--adapter",
                "toy_adapters:right",
                "--gym",
            ]
        ),
        "a b",
        "--case",
    ]
    assert check.decode(words[-1]) == case
    assert seen == [case, case]
    assert type(seen[1]) is type(case)


def test_the_command_line_replays_the_case_alone(zoo_environment: dict[str, str]) -> None:
    def called(words: list[str]) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "toy_cli", *words]
        return subprocess.run(command, env=zoo_environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own command

    first = called(["run", "toy.echo", "--adapter", "toy_adapters:WrongAbove", "--only", "TY-101"])
    [line] = [line for line in first.stdout.splitlines() if line.startswith("  replay")]
    words = shlex.split(line.partition(" = ")[2])
    assert words[:3] == ["python", "-m", "contracts"]
    assert words[-1] == '{"value": 43}'
    second = called(words[3:])
    assert (first.returncode, second.returncode) == (1, 1)
    assert second.stdout == first.stdout
    other = called([*words[3:-1], '{"value": 42}'])
    assert other.returncode == 0, "the case decides"


def test_a_case_given_as_its_own_object_is_taken_as_it_is() -> None:
    with pytest.raises(ContractFailure) as caught:
        echo["TY-101"].verify(WrongAbove(), case=Number(99))
    assert caught.value.case_json == '{"value": 99}'


def test_a_check_without_a_case_takes_none_from_text() -> None:
    with pytest.raises(ValueError, match="TY-102 takes no case"):
        echo["TY-102"].decode("{}")
