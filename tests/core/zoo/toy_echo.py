"""A toy room: an echo that gives back a number. It stands in for a real room in the tests of the core."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hypothesis import strategies as st

from contracts.contract import Contract
from contracts.level import Level
from contracts.mutant import Wrapper
from contracts.source import Source

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from contracts.check import Check

SOURCE = Source("toy/echo README", "an echo gives back what it was given")
#: Largest drift of one answer: twice what the toy's noise would be if it had any.
DRIFT_BUDGET = 0.5


@dataclass(frozen=True)
class Number:
    """One number to be echoed."""

    value: int


class EchoAdapter(Protocol):
    """What the toy contract sees."""

    name: str
    version: str
    capabilities: frozenset[str]

    def greet(self) -> str: ...
    def echo(self, value: int) -> int: ...
    def measure(self) -> float: ...
    def echo_all(self, values: list[int]) -> list[int]: ...


echo: Contract[EchoAdapter] = Contract(
    "toy.echo",
    version="1.2",
    summary="An echo against what it was given",
    reference="toy_adapters:right",
    capabilities={"batches": "the echo takes several numbers at once. Not declared: it takes one at a time."},
)


def numbers() -> SearchStrategy[Number]:
    return st.builds(Number, st.integers(-1000, 1000))


@echo.check("TY-101", source=SOURCE, examples=(Number(0), Number(7)), cases=numbers)
def number_comes_back(check: Check[EchoAdapter], adapter: EchoAdapter, case: Number) -> None:
    """The echo gives back the number that it was given.

    Why: whoever listens takes the answer for the question.

    Usual cause: an off-by-one in the echo.
    """
    got = adapter.echo(case.value)
    if got != case.value:
        raise check.fail("another number came back", got=got, want=case.value, asked=case.value)


@echo.check("TY-102", source=SOURCE, limit_s=float(os.environ.get("TOY_LIMIT", "1")))
def greeting_is_polite(check: Check[EchoAdapter], adapter: EchoAdapter) -> None:
    """The echo greets.

    Why: an echo that does not greet may be a wall.

    Usual cause: a wall.
    """
    if (got := adapter.greet()) != "hello":
        raise check.fail("the greeting is wrong", got=got, want="hello")


@echo.check("TY-103", source=SOURCE, since="1.1")
def drift_stays_in_budget(check: Check[EchoAdapter], adapter: EchoAdapter) -> None:
    """A measurement drifts by less than its budget.

    Why: a larger drift moves the mean.

    Usual cause: single precision.
    """
    if abs(got := adapter.measure()) >= DRIFT_BUDGET:
        raise check.fail("the measurement drifts", got=got, want=0.0, budget=DRIFT_BUDGET)


@echo.check("TY-104", source=SOURCE, until="1.1")
def nothing_is_remembered(check: Check[EchoAdapter], adapter: EchoAdapter) -> None:
    """An echo has no memory. Retired: nobody could say how to see it.

    Why: it was in the first version.

    Usual cause: a cache.
    """
    if getattr(adapter, "memory", None):
        raise check.fail("the echo remembers", got="a memory", want="none")


@echo.check("TY-201", source=SOURCE, requires={"batches"}, examples=([1, 2, 3],))
def batch_keeps_its_order(check: Check[EchoAdapter], adapter: EchoAdapter, case: list[int]) -> None:
    """A batch comes back in its order.

    Why: answers are matched to questions by their place.

    Usual cause: a set.
    """
    if (got := adapter.echo_all(case)) != case:
        raise check.fail("the batch changed", got=got, want=case)


@echo.check("TY-301", source=Source.ours("numbers are read by people"), level=Level.SHOULD, examples=(Number(5),))
def small_numbers_are_said_at_once(check: Check[EchoAdapter], adapter: EchoAdapter, case: Number) -> None:
    """A small number comes back on the first call.

    Why: it is nicer.

    Usual cause: a cold cache.
    """
    if (got := adapter.echo(case.value)) != case.value:
        raise check.fail("the first answer was another one", got=got, want=case.value)


@echo.mutant("TY-M101a", killed_by="TY-101")
class AddsOne(Wrapper):
    """Adds one to every number."""

    def echo(self, value: int) -> int:
        return self.inner.echo(value) + 1


@echo.mutant("TY-M101b", killed_by="TY-101", witness=Number(150))
class Saturates(Wrapper):
    """Gives back 100 for everything above."""

    def echo(self, value: int) -> int:
        return min(100, self.inner.echo(value))


@echo.mutant("TY-M102a", killed_by="TY-102")
class IsRude(Wrapper):
    """Says nothing when greeted."""

    def greet(self) -> str:
        return ""


@echo.mutant("TY-M103a", killed_by="TY-103")
class DriftsByTwice(Wrapper):
    """Drifts by twice the budget."""

    def measure(self) -> float:
        return self.inner.measure() + 2 * DRIFT_BUDGET


@echo.control("TY-C103a", tolerated_by="TY-103")
class DriftsByHalf(Wrapper):
    """Drifts by half the budget."""

    def measure(self) -> float:
        return self.inner.measure() + DRIFT_BUDGET / 2


@echo.mutant("TY-M104a", killed_by="TY-104")
class Remembers(Wrapper):
    """Keeps what it was asked."""

    memory = "everything"


@echo.mutant("TY-M201a", killed_by="TY-201")
class Reverses(Wrapper):
    """Gives a batch back from its end."""

    def echo_all(self, values: list[int]) -> list[int]:
        return self.inner.echo_all(values)[::-1]


@echo.mutant("TY-M301a", killed_by="TY-301")
class Stutters(Wrapper):
    """Gives back twice the number."""

    def echo(self, value: int) -> int:
        return 2 * self.inner.echo(value)
