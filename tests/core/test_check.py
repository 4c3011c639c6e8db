from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from toy_adapters import Claims, Crashes, Exits, Flaky, Hangs, Lacks, Late, Right, Unknown, Wrong, WrongAbove
from toy_echo import Number, echo

from contracts import Check, CheckCrashed, ContractFailure, NotDeclared
from contracts.profiles import PROFILES


@pytest.mark.parametrize("check", echo.at(), ids=lambda check: check.id)
def test_the_right_adapter_passes(check: Check[Any]) -> None:
    assert check.verify(Right()) is None


@pytest.mark.parametrize("check", echo.at(), ids=lambda check: check.id)
def test_the_wrong_adapter_fails_with_the_code_of_the_check(check: Check[Any]) -> None:
    with pytest.raises(ContractFailure) as caught:
        check.verify(Wrong())
    assert caught.value.code == check.id


class Recording(Right):
    """Keeps every number that it was asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def echo(self, value: int) -> int:
        self.asked.append(value)
        return value


def test_examples_come_first_and_drawn_cases_after() -> None:
    adapter = Recording()
    echo["TY-101"].verify(adapter)
    assert adapter.asked[:2] == [0, 7]
    assert len(adapter.asked) == 2 + 50


@pytest.mark.parametrize(("profile", "drawn"), [("smoke", 5), ("default", 50), ("contracts-deep", 1000)])
def test_the_profile_says_how_many_cases_are_drawn(profile: str, drawn: int) -> None:
    adapter = Recording()
    echo["TY-101"].verify(adapter, profile=profile)
    assert len(adapter.asked) == 2 + drawn


def test_two_runs_draw_the_same_cases() -> None:
    first, second = Recording(), Recording()
    echo["TY-101"].verify(first)
    echo["TY-101"].verify(second)
    assert first.asked == second.asked
    assert len(set(first.asked)) > 10


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(ValueError, match=f"no profile 'thorough'; there are {', '.join(PROFILES)}"):
        echo["TY-101"].verify(Right(), profile="thorough")


def test_a_given_case_is_the_only_one_tried() -> None:
    adapter = Recording()
    echo["TY-101"].verify(adapter, case=Number(12))
    assert adapter.asked == [12]


def test_the_shrunk_case_is_the_one_shown() -> None:
    with pytest.raises(ContractFailure) as caught:
        echo["TY-101"].verify(WrongAbove())
    assert caught.value.case == Number(43)
    assert "case    = Number(value=43)" in str(caught.value)


def test_a_failure_shows_everything_that_the_verdict_used() -> None:
    with pytest.raises(ContractFailure) as caught:
        echo["TY-101"].verify(WrongAbove())
    assert str(caught.value).splitlines() == [
        "TY-101 another number came back",
        "  claim   = The echo gives back the number that it was given.",
        "  got     = 42",
        "  want    = 43",
        "  asked   = 43",
        "  case    = Number(value=43)",
        "  source  = toy/echo README - an echo gives back what it was given",
        "  explain = python -m contracts explain TY-101",
        """  replay  = contracts.load('toy.echo')['TY-101'].verify(adapter, case='{"value": 43}')""",
    ]


def test_a_failure_without_a_case_shows_none() -> None:
    with pytest.raises(ContractFailure) as caught:
        echo["TY-102"].verify(Wrong())
    assert (caught.value.case, caught.value.case_json) == (None, None)
    assert "case" not in str(caught.value)


def test_an_endless_value_is_cut_and_says_so() -> None:
    failure = echo["TY-102"].fail("too long", got="x" * 5000, want="")
    assert "x" * 2000 + "... (5000 characters)" in str(failure)
    assert "x" * 2001 not in str(failure)


def test_a_crash_is_no_failure_and_says_where() -> None:
    with pytest.raises(CheckCrashed, match=r"TY-102 crashed: ZeroDivisionError: the echo broke \(at .*toy_adapters.py"):
        echo["TY-102"].verify(Crashes())


def test_an_adapter_that_exits_crashes() -> None:
    with pytest.raises(CheckCrashed, match="TY-102 crashed: SystemExit: 0"):
        echo["TY-102"].verify(Exits())


def test_an_adapter_that_hangs_crashes() -> None:
    check = replace(echo["TY-102"], limit_s=0.1)
    with pytest.raises(CheckCrashed, match=r"TY-102 did not end within 0\.1 s: the adapter hangs"):
        check.verify(Hangs())


class HangsOnDrawn(Right):
    """Hangs in what Hypothesis draws, not in an example."""

    def echo(self, value: int) -> int:
        return value if value in {0, 7} else Hangs().greet()


class HangsInATaskGroup(Right):
    """Hangs where a group wraps whatever ends it."""

    def greet(self) -> str:
        async def both() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(asyncio.sleep(60))
                await asyncio.Event().wait()

        asyncio.run(both())
        raise AssertionError


@pytest.mark.parametrize(("check_id", "adapter"), [("TY-101", HangsOnDrawn()), ("TY-102", HangsInATaskGroup())])
def test_the_limit_reaches_through_libraries(check_id: str, adapter: Right) -> None:
    with pytest.raises(CheckCrashed, match="the adapter hangs"):
        replace(echo[check_id], limit_s=0.3).verify(adapter)


def test_a_capability_that_is_not_declared_is_told_apart() -> None:
    with pytest.raises(NotDeclared, match="TY-201 needs batches, which the adapter does not declare") as caught:
        echo["TY-201"].verify(Lacks())
    assert caught.value.missing == {"batches"}


def test_a_capability_that_is_claimed_falsely_crashes() -> None:
    with pytest.raises(CheckCrashed, match="NotImplementedError: one at a time"):
        echo["TY-201"].verify(Claims())


@pytest.mark.parametrize("check_id", ["TY-101", "TY-201"])
def test_an_unknown_capability_is_an_error_whatever_the_check_needs(check_id: str) -> None:
    with pytest.raises(ValueError, match=r"declares unknown capabilities bathces; toy\.echo knows batches"):
        echo[check_id].verify(Unknown())


@pytest.mark.parametrize("adapter", [Flaky(), Late()], ids=["on an example", "on a drawn case"])
def test_a_failure_that_comes_and_goes_is_a_failure(adapter: Right) -> None:
    with pytest.raises(ContractFailure, match="TY-101 another number came back") as caught:
        echo["TY-101"].verify(adapter)
    assert isinstance(caught.value.case, Number)


def test_a_failure_inside_a_group_names_its_case() -> None:
    def grouped(check: Check[Any], _adapter: Any, _case: Number) -> None:
        raise ExceptionGroup("several", [ValueError("first"), check.fail("second", got=1, want=2)])

    with pytest.raises(ContractFailure, match="TY-101 second") as caught:
        replace(echo["TY-101"], function=grouped).verify(Right(), case=Number(3))
    assert caught.value.case == Number(3)


def test_ctrl_c_is_not_a_crash() -> None:
    class Interrupted(Right):
        def greet(self) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        echo["TY-102"].verify(Interrupted())
