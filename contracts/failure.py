"""What a check can end in besides passing."""

from __future__ import annotations

import shlex
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contracts import case as cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts.check import Check

_NO_CASE = object()


@dataclass(frozen=True, slots=True)
class Invocation:
    """How the running verification was started, so that a failure can print the command that replays it.

    Attributes:
        factory: The adapter's factory as the command line names it, ``None`` for the reference.
        options: Further options of the command line, such as ``("--gym", "0.7.0")``.
    """

    factory: str | None = None
    options: tuple[str, ...] = ()


_invocation: ContextVar[Invocation | None] = ContextVar("contracts_invocation", default=None)


@contextmanager
def invoked_as(invocation: Invocation) -> Iterator[None]:
    """Make failures inside the block print a command line instead of a line of Python."""
    token = _invocation.set(invocation)
    try:
        yield
    finally:
        _invocation.reset(token)


class NotDeclared(Exception):  # noqa: N818 - not an error: the adapter said beforehand that it cannot
    """A check needs a capability that the adapter does not declare."""

    def __init__(self, check_id: str, missing: frozenset[str]) -> None:
        self.missing = missing
        super().__init__(f"{check_id} needs {', '.join(sorted(missing))}, which the adapter does not declare")


class CheckCrashed(RuntimeError):  # noqa: N818 - named for what happened, as the report prints it
    """A check neither passed nor failed: the adapter or the harness broke, or did not come back in time."""


class ContractFailure(AssertionError):  # noqa: N818 - public name
    """A claim of the contract does not hold for this adapter.

    Attributes:
        code: Id of the check, never renumbered.
        got: What the adapter did.
        want: What the contract asks for.
        facts: Every further value that the verdict used.
        case: The (shrunk) case, ``None`` where the check takes none.
    """

    def __init__(self, check: Check[Any], message: str, *, got: object, want: object, **facts: object) -> None:
        self.check = check
        self.code = check.id
        self.message = message
        self.got = got
        self.want = want
        self.facts = facts
        self._case: object = _NO_CASE
        super().__init__(message)

    def for_case(self, case: object) -> ContractFailure:
        """The same failure, naming the case on which it was seen."""
        self._case = case
        return self

    @property
    def case(self) -> object:
        """The case on which the check failed."""
        return None if self._case is _NO_CASE else self._case

    @property
    def case_json(self) -> str | None:
        """The case as ``--case`` takes it, ``None`` where the check takes none."""
        return None if self._case is _NO_CASE else cases.encode(self._case)

    @property
    def replay(self) -> str:
        """One line that runs exactly this case again."""
        invocation = _invocation.get()
        encoded = self.case_json
        if invocation is None:
            text = self._case if type(self._case) is str else encoded
            argument = "" if encoded is None else f", case={text!r}"
            return f"contracts.load({self.check.contract!r})[{self.code!r}].verify(adapter{argument})"
        words = ["python", "-m", "contracts", "run", self.check.contract, "--only", self.code]
        if invocation.factory is not None:
            words += ["--adapter", invocation.factory]
        words += invocation.options
        if encoded is not None:
            words += ["--case", encoded]
        return shlex.join(words)

    def __str__(self) -> str:
        lines = [("claim", self.check.claim), ("got", _shown(self.got)), ("want", _shown(self.want))]
        lines += [(name, _shown(value)) for name, value in self.facts.items()]
        if self._case is not _NO_CASE:
            lines.append(("case", repr(self._case)))
        lines += [
            ("source", str(self.check.source)),
            ("explain", f"python -m contracts explain {self.code}"),
            ("replay", self.replay),
        ]
        width = max(len(name) for name, _ in lines)
        return "\n".join([f"{self.code} {self.message}", *(f"  {name:<{width}} = {text}" for name, text in lines)])


def _shown(value: object, limit: int = 2000) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"
