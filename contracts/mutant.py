"""One seeded defect, and the proof that the named check catches it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from contracts.failure import CheckCrashed, ContractFailure, NotDeclared
from contracts.sighting import sighted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from contracts.check import Check
    from contracts.known import KnownFailure

A = TypeVar("A")
M = TypeVar("M", bound="Mutant[Any]")


class Wrapper:
    """Forwards everything to the adapter it wraps; a mutant overrides the one method that it corrupts.

    Attributes:
        inner: The adapter underneath.
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class Proof(StrEnum):
    """What trying one mutant, or one control, showed."""

    KILLED = "killed"
    SURVIVED = "survived"
    INCONCLUSIVE = "inconclusive"
    HELD = "held"
    REFUSED = "refused"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class MutantResult:
    """What trying one mutant showed, and why.

    Attributes:
        proof: ``killed`` is the only success of a mutant, ``held`` the only one of a control. ``inconclusive``
            covers a baseline that does not pass, a crash and a hang; ``skipped`` means that the adapter does not
            declare what the check requires, or that the check is a known failure of it.
        reason: One line.
        without_defect: Whether it was the adapter alone, without the defect, that prevented the proof.
    """

    proof: Proof
    reason: str
    without_defect: bool = False


class MutantSurvived(AssertionError):  # noqa: N818 - named for what happened
    """A seeded defect passed the check that must catch it."""


class Inconclusive(Exception):  # noqa: N818 - named for what happened
    """Nothing was shown about the check: the adapter fails it even without the defect."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Mutant(Generic[A]):
    """A defect at the boundary of the protocol, which the check ``killed_by`` must catch on ``witness``.

    Attributes:
        id: Stable id.
        contract: Name of the contract it belongs to.
        killed_by: Id of the check that must fail, with its own code.
        witness: The case that shows the defect, ``None`` where the check takes none.
        description: The defect, in one sentence.
        wrap: Takes any adapter and returns it with the defect.
        check: The check that must catch it.
        known: The known failure of that check on the adapters to come, ``None`` where there is none.
    """

    id: str
    contract: str
    killed_by: str
    witness: Any
    description: str
    wrap: Callable[[A], A]
    check: Check[A]
    known: KnownFailure | None = None

    @property
    def requires(self) -> frozenset[str]:
        """Capabilities that the adapter must declare for the mutant to be tried: those of its check."""
        return self.check.requires

    def prove(self, adapter: A) -> MutantResult:
        """Try the mutant on ``adapter``: the check must pass on the witness without it, and fail with it.

        Where the check fails without it as `known` says, there is nothing to try.
        """
        result = self._tried(adapter)
        sighted(self.id, adapter, result)
        return result

    def _tried(self, adapter: A) -> MutantResult:
        if result := _baseline(self, adapter):
            return result
        try:
            self.check.verify(_wrapped(self, adapter), case=self.witness)
        except ContractFailure as failure:
            if failure.code == self.killed_by:
                return MutantResult(Proof.KILLED, failure.message)
            return MutantResult(Proof.SURVIVED, f"{failure.code} failed instead of {self.killed_by}")
        except NotDeclared as absent:
            return MutantResult(Proof.INCONCLUSIVE, f"with the defect, {absent}")
        except CheckCrashed as crash:
            return MutantResult(Proof.INCONCLUSIVE, f"with the defect, {crash}")
        return MutantResult(Proof.SURVIVED, f"{self.killed_by} passes with the defect")

    def verify_killed(self, adapter: A) -> None:
        """Raise unless the named check catches the defect.

        Raises:
            MutantSurvived: If it does not.
            Inconclusive: If the adapter does not pass the check without the defect, as is known or not.
            CheckCrashed: If the check crashed or hung with the defect.
            NotDeclared: If the adapter does not declare what the check requires.
        """
        __tracebackhide__ = True
        _raise_unless(Proof.KILLED, self, self.prove(adapter), adapter)


@dataclass(frozen=True, eq=False, kw_only=True)
class Control(Mutant[A]):
    """A change that the check must tolerate, such as a budget used by half: the check is no stricter than its claim.

    `prove` holds it where the check passes on the witness with it and without it.
    """

    def _tried(self, adapter: A) -> MutantResult:
        if result := _baseline(self, adapter):
            return result
        try:
            self.check.verify(_wrapped(self, adapter), case=self.witness)
        except ContractFailure as failure:
            return MutantResult(Proof.REFUSED, failure.message)
        except (NotDeclared, CheckCrashed) as crash:
            return MutantResult(Proof.INCONCLUSIVE, f"with the change, {crash}")
        return MutantResult(Proof.HELD, f"{self.killed_by} tolerates it")

    def verify_held(self, adapter: A) -> None:
        """Raise unless the check tolerates the change; raises as `Mutant.verify_killed` does."""
        __tracebackhide__ = True
        _raise_unless(Proof.HELD, self, self.prove(adapter), adapter)


def expecting(seeds: Iterable[M], known_failures: Mapping[str, KnownFailure]) -> tuple[M, ...]:
    """The mutants, or controls, each with the known failure of its check."""
    return tuple(
        replace(seed, known=known_failures[seed.killed_by]) if seed.killed_by in known_failures else seed
        for seed in seeds
    )


def _wrapped(mutant: Mutant[A], adapter: A) -> A:
    try:
        return mutant.wrap(adapter)
    except Exception as error:
        raise CheckCrashed(f"{mutant.id} cannot wrap the adapter: {type(error).__name__}: {error}") from error


def _baseline(mutant: Mutant[A], adapter: A) -> MutantResult | None:
    known = mutant.known
    try:
        mutant.check.verify(adapter, case=mutant.witness)
    except NotDeclared as absent:
        return MutantResult(Proof.SKIPPED, str(absent))
    except (ContractFailure, CheckCrashed) as failure:
        own = isinstance(failure, ContractFailure) and failure.code == mutant.killed_by
        if own and known is not None and not known.expired():
            reason = f"{mutant.killed_by} is a known failure here: {known.reason} ({known.issue})"
            return MutantResult(Proof.SKIPPED, reason, without_defect=True)
        headline = str(failure).partition("\n")[0]
        return MutantResult(Proof.INCONCLUSIVE, f"without the defect, {headline}", without_defect=True)
    return None


def _raise_unless(wanted: Proof, mutant: Mutant[A], result: MutantResult, adapter: A) -> None:
    __tracebackhide__ = True
    if result.proof is wanted:
        return
    line = f"{mutant.id} ({mutant.description}): {result.reason}"
    if result.without_defect:
        raise Inconclusive(line)
    if result.proof is Proof.SKIPPED:
        raise NotDeclared(mutant.killed_by, mutant.check.missing(adapter))
    if result.proof is Proof.INCONCLUSIVE:
        raise CheckCrashed(line)
    raise MutantSurvived(line)
