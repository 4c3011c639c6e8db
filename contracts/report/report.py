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
        origin: The file it was read from, empty where it was read from none.
        parts: The headers of the reports that it was combined from, empty where it was not combined.
    """

    header: Header
    checks: list[CheckRecord] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    mutants: list[MutantRecord] = field(default_factory=list)
    footer: Footer | None = None
    raised: list[Exception] = field(default_factory=list)
    origin: str = ""
    parts: list[Header] = field(default_factory=list)

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
    def runs(self) -> list[Header]:
        """The header of every run behind it."""
        return self.parts or [self.header]

    @property
    def outcomes(self) -> dict[str, int]:
        """Number of results per outcome, zeros included."""
        found = Counter(result.outcome.value for result in self.results)
        return {outcome.value: found[outcome.value] for outcome in Outcome}

    @property
    def proofs(self) -> dict[str, int]:
        """Number of mutants and controls per proof, zeros included."""
        found = Counter(mutant.proof for mutant in self.mutants)
        return {proof.value: found[proof.value] for proof in Proof}

    @property
    def counts(self) -> dict[str, int]:
        """What the footer states: `outcomes` of a run, `proofs` of mutants, and of both the sums of equal names."""
        parts = [part for name, part in (("run", self.outcomes), ("mutants", self.proofs)) if self.holds(name)]
        return {name: sum(part.get(name, 0) for part in parts) for part in parts for name in part}

    def holds(self, command: str) -> bool:
        """Whether it is a report of ``run``, or of ``mutants``; one that was combined may be of both."""
        return command in self.header.command.split(" and ")

    @property
    def totals(self) -> str:
        """The one line that every run ends with."""
        lines = []
        if self.holds("run"):
            lines.append(", ".join(f"{self.outcomes[name]} {name}" for name in list(Outcome)[:4]))
        if self.holds("mutants"):
            lines.append(", ".join(f"{self.proofs[name]} {name}" for name in list(Proof)[:3]))
        return "; ".join(lines)

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
    def not_run(self) -> list[Result]:
        """Checks that were asked for and did not run, so that nothing is known of them."""
        return [result for result in self.results if result.outcome is Outcome.NOT_RUN]

    @property
    def exit_code(self) -> ExitCode:
        """The verdict, as the command line gives it."""
        outcomes = {result.outcome for result in self.failures}
        proofs = {mutant.proof for mutant in self.mutants}
        if Outcome.ERROR in outcomes:
            return ExitCode.ERROR
        if outcomes or proofs & {Proof.SURVIVED, Proof.REFUSED}:
            return ExitCode.FAILED
        ran = len(self.mutants) + len(self.results) - len(self.not_run)
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
        texts += [f"{result.check} did not run: {result.message}" for result in self.not_run]
        texts = texts or [f"the run is incomplete: {len(self.results)} of {self.expected} checks"]
        raise ExceptionGroup(self.totals, self.raised or [FailedRunError(text) for text in texts])
