"""A contract: the checks of one side of a seam, and the mutants that prove them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from contracts.check import Check, declared_by, described, takes_case
from contracts.level import Level
from contracts.mutant import Control, Mutant

if TYPE_CHECKING:
    import pytest
    from hypothesis.strategies import SearchStrategy

    from contracts.known import KnownFailure
    from contracts.source import Source

A = TypeVar("A")
F = TypeVar("F", bound=Callable[..., None])
W = TypeVar("W", bound=Callable[[Any], Any])

_CHECK_ID = re.compile(r"[A-Z]{2}-\d{3}")


class UnknownIdError(ValueError):
    """An id that no check of the contract has."""


class Contract(Generic[A]):
    """The checks that hold one side of a seam, in the order of their ids.

    Attributes:
        name: ``room.side``, such as ``gym_overflow.endpoint``.
        version: The contract's own version, ``major.minor``. A downstream pins it; a new check carries ``since``.
        summary: What is held against what, in one sentence.
        capabilities: Every name that an adapter may declare, with what it means and what not declaring it means.
        reference: Factory of the reference's adapters, as ``package.module:factory``.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str,
        summary: str,
        reference: str,
        capabilities: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.version = version
        self.summary = summary
        self.reference = reference
        self.capabilities: Mapping[str, str] = dict(capabilities or {})
        self._checks: dict[str, Check[A]] = {}
        self._mutants: dict[str, Mutant[A]] = {}
        self._controls: dict[str, Control[A]] = {}

    def __repr__(self) -> str:
        return f"<Contract {self.name} {self.version}: {len(self._checks)} checks, {len(self._mutants)} mutants>"

    def __getitem__(self, check_id: str) -> Check[A]:
        if check_id not in self._checks:
            raise UnknownIdError(f"{self.name} has no check {check_id!r}; it has {', '.join(sorted(self._checks))}")
        return self._checks[check_id]

    @property
    def checks(self) -> tuple[Check[A], ...]:
        """Every check that was ever part of the contract, retired ones included, by id."""
        return tuple(self._checks[check_id] for check_id in sorted(self._checks))

    @property
    def mutants(self) -> tuple[Mutant[A], ...]:
        """Every mutant, by id."""
        return tuple(self._mutants[mutant_id] for mutant_id in sorted(self._mutants))

    @property
    def controls(self) -> tuple[Control[A], ...]:
        """Every control, by id."""
        return tuple(self._controls[control_id] for control_id in sorted(self._controls))

    def at(self, version: str | None = None) -> tuple[Check[A], ...]:
        """The checks in force at ``version`` (default: the newest), by id.

        Raises:
            ValueError: If the version is not ``major.minor`` or newer than the contract's own.
        """
        wanted = _parsed(version or self.version)
        if wanted > _parsed(self.version):
            raise ValueError(f"{self.name} is at version {self.version}; {version} does not exist yet")
        return tuple(
            check
            for check in self.checks
            if _parsed(check.since) <= wanted and (check.until is None or wanted < _parsed(check.until))
        )

    def select(self, version: str | None = None, only: Iterable[str] = ()) -> tuple[Check[A], ...]:
        """The checks in force at ``version``, limited to ``only`` where it is given.

        Raises:
            UnknownIdError: If ``only`` names a check that is not in force.
        """
        in_force = self.at(version)
        wanted = frozenset(only)
        if unknown := wanted - {check.id for check in in_force}:
            raise UnknownIdError(f"{self.name} {version or self.version} has no check {', '.join(sorted(unknown))}")
        return tuple(check for check in in_force if not wanted or check.id in wanted)

    def capabilities_of(self, adapter: A) -> frozenset[str]:
        """What ``adapter`` declares.

        Raises:
            ValueError: If it declares a name that the contract does not know.
        """
        return declared_by(adapter, frozenset(self.capabilities), self.name)

    def known(self, known_failures: Mapping[str, KnownFailure] | None) -> dict[str, KnownFailure]:
        """The known failures, each id checked.

        Raises:
            UnknownIdError: If one names a check that the contract does not have.
        """
        for check_id in known_failures or {}:
            self[check_id]
        return dict(known_failures or {})

    def check(
        self,
        check_id: str,
        *,
        source: Source,
        level: Level = Level.MUST,
        since: str = "1.0",
        until: str | None = None,
        requires: Iterable[str] = (),
        examples: Sequence[Any] = (),
        cases: Callable[[], SearchStrategy[Any]] | None = None,
        cases_for: Callable[[A], SearchStrategy[Any]] | None = None,
        limit_s: float = 120.0,
    ) -> Callable[[F], F]:
        """Register the decorated function as a check.

        The function takes ``(check, adapter)`` or ``(check, adapter, case)``; a check that takes a case names at
        least one example, and may draw more from the strategy that ``cases()``, or ``cases_for(adapter)``, builds. Its
        docstring holds the claim, a ``Why:`` and a ``Usual cause:`` paragraph.

        Raises:
            ValueError: If the id is malformed or taken, a version malformed, or a capability unknown.
            TypeError: If the function's parameters, docstring and examples do not fit.
        """

        def register(function: F) -> F:
            if not _CHECK_ID.fullmatch(check_id) or check_id in self._checks:
                raise ValueError(f"{check_id!r} is no free check id of the form XX-000")
            if unknown := frozenset(requires) - self.capabilities.keys():
                raise ValueError(f"{check_id} requires unknown capabilities {', '.join(sorted(unknown))}")
            for stated in (since, until or since):
                _parsed(stated)
            wants_case = takes_case(function)
            if wants_case != bool(examples) or ((cases or cases_for) and not wants_case):
                raise TypeError(f"{check_id} must name examples, and may name cases, exactly if its function takes one")
            claim, why, usual_cause = described(function)
            self._checks[check_id] = Check(
                id=check_id,
                contract=self.name,
                level=level,
                since=since,
                until=until,
                requires=frozenset(requires),
                source=source,
                claim=claim,
                why=why,
                usual_cause=usual_cause,
                function=function,
                examples=tuple(examples),
                cases=cases,
                cases_for=cases_for,
                limit_s=limit_s,
                takes_case=wants_case,
                known_capabilities=frozenset(self.capabilities),
            )
            return function

        return register

    def mutant(self, mutant_id: str, *, killed_by: str, witness: object = None) -> Callable[[W], W]:
        """Register the decorated class or function, which takes any adapter and returns it with one defect.

        Its docstring is the defect in one sentence. Without ``witness`` the first example of the check is used.

        Raises:
            ValueError: If the id is taken or the check unknown.
            TypeError: If there is no docstring.
        """

        def register(wrap: W) -> W:
            self._mutants[mutant_id] = Mutant(**self._seeded(mutant_id, killed_by, witness, wrap))
            return wrap

        return register

    def control(self, control_id: str, *, tolerated_by: str, witness: object = None) -> Callable[[W], W]:
        """Register a change that the check ``tolerated_by`` must let pass; otherwise as `mutant`."""

        def register(wrap: W) -> W:
            self._controls[control_id] = Control(**self._seeded(control_id, tolerated_by, witness, wrap))
            return wrap

        return register

    def _seeded(self, mutant_id: str, check_id: str, witness: object, wrap: Callable[[A], A]) -> dict[str, Any]:
        if mutant_id in self._mutants or mutant_id in self._controls:
            raise ValueError(f"{mutant_id!r} is taken")
        check = self[check_id]
        description = (wrap.__doc__ or "").strip().partition("\n")[0].rstrip(".")
        if not description:
            raise TypeError(f"{mutant_id} needs a docstring that states the defect in one sentence")
        if witness is None and check.examples:
            witness = check.examples[0]
        return {
            "id": mutant_id,
            "contract": self.name,
            "killed_by": check_id,
            "witness": witness,
            "description": description,
            "wrap": wrap,
            "check": check,
        }

    def parametrize(
        self, version: str | None = None, known_failures: Mapping[str, KnownFailure] | None = None
    ) -> pytest.MarkDecorator:
        """Parametrize a test ``(adapter, check)`` over the checks in force at ``version``.

        Args:
            version: Contract version to hold the adapter to, by default the newest.
            known_failures: Failures that are expected for now, by check id. By default those of the table
                ``[tool.contracts.known-failures]`` in the ``pyproject.toml`` of pytest's root folder.

        Raises:
            UnknownIdError: If a known failure names a check that the contract does not have.
            ValueError: If the table is malformed, or names a check that does not exist.
        """
        from contracts.parametrization import over_checks  # noqa: PLC0415 - pytest is needed only here

        return over_checks(self, version, known_failures)

    def parametrize_mutants(
        self, version: str | None = None, known_failures: Mapping[str, KnownFailure] | None = None
    ) -> pytest.MarkDecorator:
        """Parametrize a test ``(adapter, mutant)`` over the mutants of the checks in force; otherwise as `parametrize`.

        Where a check fails without the defect too, as is known, the mutant is skipped.
        """
        from contracts.parametrization import over_mutants  # noqa: PLC0415 - pytest is needed only here

        return over_mutants(self, version, known_failures)

    def parametrize_controls(
        self, version: str | None = None, known_failures: Mapping[str, KnownFailure] | None = None
    ) -> pytest.MarkDecorator:
        """Parametrize a test ``(adapter, control)`` over the controls, as `parametrize_mutants` over the mutants."""
        from contracts.parametrization import over_controls  # noqa: PLC0415 - pytest is needed only here

        return over_controls(self, version, known_failures)


def _parsed(version: str) -> tuple[int, int]:
    major, dot, minor = version.partition(".")
    if not (dot and major.isdigit() and minor.isdigit()):
        raise ValueError(f"a contract version is major.minor, got {version!r}")
    return int(major), int(minor)
