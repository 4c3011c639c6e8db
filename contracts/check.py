"""One claim about an adapter, as a plain function with metadata."""

from __future__ import annotations

import inspect
import traceback
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from contracts import case as cases_json
from contracts.failure import CheckCrashed, ContractFailure, NotDeclared
from contracts.limit import TimeLimitExceeded, time_limit
from contracts.profiles import current_profile, profile_settings, registered_name
from contracts.sighting import sighted

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

    from contracts.known import KnownFailure
    from contracts.level import Level
    from contracts.source import Source

A = TypeVar("A")
E = TypeVar("E", bound=BaseException)

_SECTIONS = ("Why:", "Usual cause:")


@dataclass(frozen=True, eq=False, kw_only=True)
class Check(Generic[A]):
    """A claim about an adapter, and the function that decides it.

    Attributes:
        id: Stable id, never renumbered, never reused.
        contract: Name of the contract it belongs to, such as ``gym_overflow.endpoint``.
        level: How binding it is.
        since: Contract version that introduced it.
        until: First contract version without it, ``None`` while it is in force.
        requires: Capabilities that the adapter must declare for the check to run.
        source: Where the rule comes from.
        claim: What holds, in one sentence.
        why: What breaks in training if it does not.
        usual_cause: The mistakes that usually produce this failure.
        function: Called as ``function(check, adapter)``, or ``function(check, adapter, case)``.
        examples: Cases that every run tries first; the first is the witness of a mutant that names none.
        cases: Builds the strategy that more cases are drawn from; ``None`` means the examples are all there is.
        cases_for: The same, for cases that depend on the adapter.
        limit_s: Seconds after which a run of the check counts as hung.
        takes_case: Whether the function takes a case.
        known_capabilities: Every name that an adapter may declare.
    """

    id: str
    contract: str
    level: Level
    since: str
    source: Source
    claim: str
    why: str
    usual_cause: str
    function: Callable[..., None]
    until: str | None = None
    requires: frozenset[str] = frozenset()
    examples: tuple[Any, ...] = ()
    cases: Callable[[], SearchStrategy[Any]] | None = None
    cases_for: Callable[[A], SearchStrategy[Any]] | None = None
    limit_s: float = 120.0
    takes_case: bool = field(default=False)
    known_capabilities: frozenset[str] = frozenset()

    def fail(self, message: str, *, got: object, want: object, **facts: object) -> ContractFailure:
        """The failure to raise: ``message`` in plain words, and every value that the verdict used."""
        return ContractFailure(self, message, got=got, want=want, **facts)

    def missing(self, adapter: A) -> frozenset[str]:
        """The capabilities that the check needs and ``adapter`` does not declare.

        Raises:
            ValueError: If it declares a name that the contract does not know.
        """
        return self.requires - declared_by(adapter, self.known_capabilities, self.contract)

    def decode(self, text: str) -> object:
        """The case that a replay line holds.

        Raises:
            ValueError: If the check takes no case, or ``text`` does not hold one of its type.
        """
        if not self.takes_case:
            raise ValueError(f"{self.id} takes no case")
        return cases_json.decode(type(self.examples[0]), text)

    def verify(self, adapter: A, *, case: object = None, profile: str | None = None) -> None:
        """Hold ``adapter`` to the claim: on ``case`` alone if given, else on the examples and on drawn cases.

        Args:
            adapter: The implementation, behind the room's protocol.
            case: One case, or the JSON of one as a failure prints it.
            profile: ``smoke``, ``default`` or ``deep``: how many cases are drawn; by default the current one.

        Raises:
            ContractFailure: If the claim does not hold; it names the (shrunk) case.
            NotDeclared: If the adapter does not declare what the check requires.
            CheckCrashed: If the adapter broke, or did not come back within ``limit_s``.
            ValueError: If the adapter declares an unknown capability, or the profile or ``case`` is not valid.
        """
        __tracebackhide__ = True
        sighted(self.id, adapter)
        if missing := self.missing(adapter):
            raise NotDeclared(self.id, missing)
        # Compared by `type`: a member of a string enumeration is a case, not the JSON of one.
        if type(case) is str and self.takes_case and type(self.examples[0]) is not str:
            case = self.decode(case)
        chosen = registered_name(profile or current_profile.get())
        try:
            with time_limit(self.limit_s):
                if not self.takes_case or case is not None:
                    self._once(adapter, case)
                else:
                    self._on_all(adapter, chosen)
        except ContractFailure as failure:
            raise failure.with_traceback(None) from failure.__cause__
        except BaseException as error:
            # A task group wraps what ends it, the limit too.
            if _inside(error, TimeLimitExceeded):
                raise CheckCrashed(f"{self.id} did not end within {self.limit_s:g} s: the adapter hangs") from None
            # SystemExit too: an adapter that exits must not end the run, and with its own exit code.
            if not isinstance(error, (Exception, SystemExit)):
                raise
            if inner := _inside(error, ContractFailure):
                raise inner from None
            raise CheckCrashed(f"{self.id} crashed: {type(error).__name__}: {error}{_place(error)}") from error

    def expired(self, known: KnownFailure) -> Check[A]:
        """A stand-in that fails because the known failure of this check is no longer accepted."""

        def fail(check: Check[A], _adapter: A, _case: object = None) -> None:
            raise check.fail(
                f"the known failure ended on {known.until}",
                got=f"{known.reason} ({known.issue})",
                want="a fixed implementation, or a new end date",
            )

        return replace(self, function=fail, takes_case=False)

    def _once(self, adapter: A, case: object) -> None:
        try:
            if self.takes_case:
                self.function(self, adapter, case)
            else:
                self.function(self, adapter)
        except Exception as error:
            if self.takes_case and (failure := _inside(error, ContractFailure)):
                raise failure.for_case(case) from failure.__cause__
            raise

    def _on_all(self, adapter: A, profile: str) -> None:
        for example in self.examples:
            self._once(adapter, example)
        from hypothesis import given  # noqa: PLC0415 - a room can be read without Hypothesis

        if self.cases is not None:
            strategy = self.cases()
        elif self.cases_for is not None:
            strategy = self.cases_for(adapter)
        else:
            return

        @profile_settings(profile)
        @given(strategy)
        def on_drawn_case(case: object) -> None:
            self._once(adapter, case)

        on_drawn_case()


def declared_by(adapter: object, known: frozenset[str], contract: str) -> frozenset[str]:
    """The capabilities that ``adapter`` declares.

    Raises:
        ValueError: If one of them is not ``known`` to the contract of that name.
    """
    declared: frozenset[str] = frozenset(getattr(adapter, "capabilities", ()))
    if unknown := declared - known:
        raise ValueError(
            f"the adapter declares unknown capabilities {', '.join(sorted(unknown))}; "
            f"{contract} knows {', '.join(sorted(known)) or 'none'}"
        )
    return declared


def _inside(error: BaseException, kind: type[E]) -> E | None:
    """The first error of that kind, inside groups too: Hypothesis raises one for a failure that comes and goes."""
    if isinstance(error, kind):
        return error
    for inner in getattr(error, "exceptions", ()):
        if found := _inside(inner, kind):
            return found
    return None


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" (at {frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def described(function: Callable[..., None]) -> tuple[str, str, str]:
    """Claim, why and usual cause, read from the docstring of a check.

    Raises:
        TypeError: If a part is missing.
    """
    text = inspect.getdoc(function) or ""
    claim, _, rest = text.partition("\n")
    why_mark, cause_mark = _SECTIONS
    _, has_why, after_why = rest.partition(why_mark)
    why, has_cause, cause = after_why.partition(cause_mark)
    if not (claim.strip() and has_why and why.strip() and has_cause and cause.strip()):
        raise TypeError(
            f"{function.__qualname__} needs a docstring whose first line is the claim, "
            f"followed by a '{why_mark}' and a '{cause_mark}' paragraph"
        )
    return claim.strip(), " ".join(why.split()), " ".join(cause.split())


def takes_case(function: Callable[..., None]) -> bool:
    """Whether a check's function takes a case, decided by its parameters.

    Raises:
        TypeError: If they are neither ``(check, adapter)`` nor ``(check, adapter, case)``.
    """
    count = len(inspect.signature(function).parameters)
    without, with_case = 2, 3
    if count not in {without, with_case}:
        raise TypeError(f"{function.__qualname__} must take (check, adapter) or (check, adapter, case)")
    return count == with_case
