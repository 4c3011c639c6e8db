"""A zoo of echoes: one that is right, and one for each way of not being so."""

from __future__ import annotations

import sys
import time

from contracts.known import KnownFailure


class Right:
    """Always right."""

    name = "right"
    version = "1.0"
    capabilities = frozenset({"batches"})

    def greet(self) -> str:
        return "hello"

    def echo(self, value: int) -> int:
        return value

    def measure(self) -> float:
        return 0.0

    def echo_all(self, values: list[int]) -> list[int]:
        return [self.echo(value) for value in values]


class Wrong(Right):
    """Always wrong."""

    name = "wrong"

    def greet(self) -> str:
        return "go away"

    def echo(self, value: int) -> int:
        return value + 1

    def measure(self) -> float:
        return 10.0


class WrongAbove(Right):
    """Wrong from 43 on: no example shows it, a drawn case does."""

    name = "wrong above"

    def echo(self, value: int) -> int:
        return value if value < 43 else value - 1


class Hasty(Right):
    """Fails the SHOULD alone."""

    name = "hasty"

    def echo(self, value: int) -> int:
        return 0 if value == 5 else value


class Rude(Right):
    """Fails one check alone, TY-102."""

    name = "rude"

    def greet(self) -> str:
        return "go away"


class Crashes(Right):
    """Breaks when it is greeted."""

    name = "crashes"

    def greet(self) -> str:
        raise ZeroDivisionError("the echo broke")


class Exits(Right):
    """Ends the process when it is greeted, and calls that a success."""

    name = "exits"

    def greet(self) -> str:
        sys.exit(0)


class Hangs(Right):
    """Never comes back when it is greeted."""

    name = "hangs"

    def greet(self) -> str:
        while True:
            time.sleep(0.05)


class Lacks(Right):
    """Takes one number at a time, and says so."""

    name = "lacks"
    capabilities = frozenset()

    def echo_all(self, values: list[int]) -> list[int]:
        raise NotImplementedError("one at a time")


class Claims(Lacks):
    """Takes one number at a time, and says otherwise."""

    name = "claims"
    capabilities = frozenset({"batches"})


class Unknown(Right):
    """Declares a capability that nobody knows."""

    name = "unknown"
    capabilities = frozenset({"bathces"})


class Flaky(Right):
    """Wrong on its second call of three."""

    name = "flaky"

    def __init__(self) -> None:
        self.calls = 0

    def echo(self, value: int) -> int:
        self.calls += 1
        return value + (self.calls % 3 == 2)


class Late(Flaky):
    """Wrong on its tenth call alone, and right when it is asked again."""

    name = "late"

    def echo(self, value: int) -> int:
        self.calls += 1
        return value + (self.calls == 10)


def right() -> Right:
    return Right()


def several() -> tuple[Right, ...]:
    return Right(), Wrong()


def twins() -> tuple[Right, ...]:
    return Right(), Right()


def unbuildable() -> Right:
    raise OSError("no echo here")


class Closes(Right):
    """Says when it is closed."""

    name = "closes"

    def close(self) -> None:
        sys.stderr.write("closed\n")


class BreaksOnClose(Right):
    """Breaks when it is closed."""

    name = "breaks on close"

    def close(self) -> None:
        raise OSError("the door is stuck")


class Managed(Right):
    """A context manager that gives another object than itself."""

    name = "managed"

    def __enter__(self) -> Right:
        return Right()

    def __exit__(self, *_: object) -> None:
        sys.stderr.write("left\n")


class Expects(Rude):
    """Carries its own known failure."""

    name = "expects"

    def __init__(self) -> None:
        self.known_failures = {"TY-102": KnownFailure("it is rude", issue="toy/echo#1")}


class ExpectsUnknown(Right):
    """Carries a known failure of a check that does not exist."""

    name = "expects unknown"

    def __init__(self) -> None:
        self.known_failures = {"TY-999": KnownFailure("nothing", issue="toy/echo#2")}


class BreaksOnEnter(Managed):
    """Breaks when it is opened."""

    name = "breaks on enter"

    def __enter__(self) -> Right:
        raise OSError("the door is shut")
