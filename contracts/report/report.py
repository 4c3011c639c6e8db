"""A whole report: its records, its counts and its verdict."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum

from contracts.level import Level
from contracts.mutant import Proof
from contracts.report.records import CheckRecord, Footer, Header, MutantRecord, Outcome, Record, Result


class ExitCode(IntEnum):
    """Exit codes of the command line."""

    HOLDS = 0
    FAILED = 1
    USAGE = 2
    ERROR = 3
    INCOMPLETE = 4


class FailedRunError(AssertionError):
    """A run that does not hold, where no failure of a single check says so."""


@dataclass(slots=True)
class Report:
    """Everything that one run found.

    Attributes:
        header: What was run, with what.
        checks: The checks in force.
        results: How each ended, in the order in which they ran.
        mutants: What trying each mutant showed.
        footer: The counts, ``None`` until the run is complete.
        raised: The failures and errors themselves, where the run happened in this process.
    """

    header: Header
    checks: list[CheckRecord] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    mutants: list[MutantRecord] = field(default_factory=list)
    footer: Footer | None = None
    raised: list[Exception] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Take one more record."""
        match record:
            case Header():
                raise ValueError("a report has one header")
            case CheckRecord():
                self.checks.append(record)
            case Result():
                self.results.append(record)
            case MutantRecord():
                self.mutants.append(record)
            case Footer():
                self.footer = record

    @property
    def counts(self) -> dict[str, int]:
        """Number of results per outcome and of mutants per proof, zeros included."""
        found = Counter[str](result.outcome.value for result in self.results)
        found.update(mutant.proof for mutant in self.mutants)
        names = [proof.value for proof in Proof] if self.header.command == "mutants" else list(Outcome)
        return {str(name): found[str(name)] for name in names}

    @property
    def totals(self) -> str:
        """The one line that every run ends with."""
        names = ("killed", "survived", "inconclusive") if self.header.command == "mutants" else list(Outcome)[:4]
        return ", ".join(f"{self.counts[name]} {name}" for name in names)

    @property
    def expected(self) -> int:
        """Number of results that a complete run has."""
        return sum(subject.selected for subject in self.header.subjects)

    @property
    def failures(self) -> list[Result]:
        """Results that fail the run: a failed ``MUST``, and every error."""
        return [
            result
            for result in self.results
            if result.outcome is Outcome.ERROR or (result.outcome is Outcome.FAILED and result.level == Level.MUST)
        ]

    @property
    def exit_code(self) -> ExitCode:
        """The verdict, as the command line gives it."""
        outcomes = {result.outcome for result in self.failures}
        proofs = {mutant.proof for mutant in self.mutants}
        if Outcome.ERROR in outcomes:
            return ExitCode.ERROR
        if outcomes or proofs & {Proof.SURVIVED, Proof.REFUSED}:
            return ExitCode.FAILED
        ran = len(self.mutants) if self.header.command == "mutants" else len(self.results)
        if self.footer is None or ran != self.expected or Proof.INCONCLUSIVE in proofs:
            return ExitCode.INCOMPLETE
        return ExitCode.HOLDS

    def matrix(self) -> str:
        """The checks and mutants as plain text tables."""
        from contracts.report.terminal import as_text  # noqa: PLC0415 - rich is needed only to print

        return as_text(self)

    def raise_for_failures(self) -> None:
        """Raise if the verdict is anything but ``HOLDS``.

        Raises:
            ExceptionGroup: The `ContractFailure` of every failed ``MUST`` and the `CheckCrashed` of every error, or
                one `FailedRunError` that says what else does not hold.
        """
        if self.exit_code is ExitCode.HOLDS:
            return
        unproved = [
            f"{mutant.mutant}: {mutant.proof}: {mutant.reason}"
            for mutant in self.mutants
            if mutant.proof in {Proof.SURVIVED, Proof.REFUSED, Proof.INCONCLUSIVE}
        ]
        texts = unproved + [result.failure or result.message for result in self.failures]
        texts = texts or [f"the run is incomplete: {len(self.results)} of {self.expected} checks"]
        raise ExceptionGroup(self.totals, self.raised or [FailedRunError(text) for text in texts])
