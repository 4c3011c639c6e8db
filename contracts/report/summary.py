"""Where each adapter stands, in counts: one line per contract and adapter."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contracts.level import Level
from contracts.mutant import Proof
from contracts.report.records import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from contracts.report.records import MutantRecord, Result
    from contracts.report.report import Report


@dataclass(frozen=True, slots=True)
class Standing:
    """One adapter under one contract.

    Attributes:
        contract: Name and version of the contract.
        subject: Name of the adapter.
        version: Version of what stands behind it, empty where it states none.
        must: Such as ``41/41``: how many MUST hold of those that ran, or should have; empty where there is none.
        should: The same of SHOULD.
        known: Number of known failures, which are among those that do not hold.
        skipped: Number of checks that need what the adapter does not declare.
        errors: Number of checks on which the adapter or the harness broke.
        not_run: Number of checks that were asked for and did not run.
        killed: Such as ``67/67``: mutants killed of those tried; empty where none was.
        holds: Whether nothing here fails a run.
    """

    contract: str
    subject: str
    version: str
    must: str
    should: str
    known: int
    skipped: int
    errors: int
    not_run: int
    killed: str
    holds: bool


def standings(report: Report) -> list[Standing]:
    """A line per contract and adapter, in the order of the report's header. Levels are never mixed."""
    return [
        _standing(report, subject.contract, subject.contract_version, subject.name, subject.version)
        for subject in sorted(report.header.subjects, key=lambda subject: _order(report, subject.contract))
    ]


def not_tried(mutants: Iterable[MutantRecord]) -> list[str]:
    """How many of the mutants and controls were not tried, and why: one line per adapter and reason."""
    found = Counter((mutant.subject, mutant.reason) for mutant in mutants if mutant.proof == Proof.SKIPPED)
    return [f"{subject}: {count} not tried: {reason}" for (subject, reason), count in found.items()]


def _order(report: Report, contract: str) -> int:
    return [subject.contract for subject in report.header.subjects].index(contract)


def _standing(report: Report, contract: str, contract_version: str, name: str, version: str) -> Standing:
    results = [result for result in report.results if (result.contract, result.subject) == (contract, name)]
    mutants = [mutant for mutant in report.mutants if (mutant.contract, mutant.subject) == (contract, name)]
    outcomes = Counter(result.outcome for result in results)
    proofs = Counter(mutant.proof for mutant in mutants)
    tried = proofs["killed"] + proofs["survived"] + proofs["inconclusive"]
    fails = any(result in report.failures for result in results)
    return Standing(
        contract=f"{contract} {contract_version}",
        subject=name,
        version=version,
        must=_ratio(results, Level.MUST),
        should=_ratio(results, Level.SHOULD),
        known=outcomes[Outcome.KNOWN],
        skipped=outcomes[Outcome.SKIPPED],
        errors=outcomes[Outcome.ERROR],
        not_run=outcomes[Outcome.NOT_RUN],
        killed=f"{proofs['killed']}/{tried}" if tried else "",
        holds=not fails
        and not (outcomes[Outcome.NOT_RUN] or proofs["survived"] or proofs["refused"] or proofs["inconclusive"]),
    )


def _ratio(results: Iterable[Result], level: Level) -> str:
    ran = [result for result in results if result.level == level and result.outcome is not Outcome.SKIPPED]
    return f"{sum(result.outcome is Outcome.PASSED for result in ran)}/{len(ran)}" if ran else ""
