"""A report as tables: one per contract, a row per check or mutant, a column per adapter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from contracts.mutant import Proof

if TYPE_CHECKING:
    from collections.abc import Iterable

    from contracts.report.records import MutantRecord, Result, Subject
    from contracts.report.report import Report


_CLEAN = {"passed", "killed", "held", "skipped", "not tried"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One outcome or proof, the line that explains it, and the key of the record it was read from."""

    verdict: str
    message: str = ""
    key: tuple[str, str, str] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A check with its level and claim, or a mutant with its killer and defect; a cell per adapter."""

    id: str
    kind: str
    text: str
    cells: tuple[Cell, ...]

    @property
    def clean(self) -> bool:
        """Whether nothing in the row needs a look."""
        return all(cell.key and cell.verdict in _CLEAN for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Everything that was found about one contract.

    Attributes:
        contract: Name and version of the contract.
        kind: Heading of each row's ``kind``.
        text: Heading of each row's ``text``.
        subjects: Names of the adapters that were held, or tried, one per column.
        rows: The checks, or the mutants.
    """

    contract: str
    kind: str
    text: str
    subjects: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def columns(self) -> list[str]:
        """The adapters' names without the words that all of them begin with, so that many columns fit."""
        split = [name.split() for name in self.subjects]
        shortest = min(map(len, split))
        shared = 0
        while len(split) > 1 and shared < shortest - 1 and len({words[shared] for words in split}) == 1:
            shared += 1
        return [" ".join(words[shared:]) for words in split]


def matrices(report: Report) -> list[Matrix]:
    """One matrix of checks per contract and, where mutants were tried, one of mutants."""
    found = []
    for contract in dict.fromkeys(subject.contract for subject in report.header.subjects):
        subjects = [subject for subject in report.header.subjects if subject.contract == contract]
        title = f"{contract} {subjects[0].contract_version}"
        names = _names(subjects, [result for result in report.results if result.contract == contract])
        if rows := _checks(report, contract, names):
            found.append(Matrix(title, "level", "claim", names, rows))
        names = _names(subjects, [mutant for mutant in report.mutants if mutant.contract == contract])
        if rows := _mutants(report, contract, names):
            found.append(Matrix(f"{title}: mutants", "killed by", "defect", names, rows))
    return found


def _names(subjects: Iterable[Subject], records: Iterable[Result | MutantRecord]) -> tuple[str, ...]:
    """Those of the adapters that a record is about, in the report's order."""
    found = {record.subject for record in records}
    return tuple(subject.name for subject in subjects if subject.name in found)


def _checks(report: Report, contract: str, names: tuple[str, ...]) -> tuple[Row, ...]:
    cells = {
        (result.check, result.subject): Cell(result.outcome, result.message, result.key)
        for result in report.results
        if result.contract == contract
    }
    ran = {check for check, _ in cells}
    return tuple(
        Row(
            check.id,
            check.level,
            check.claim,
            tuple(cells.get((check.id, name), Cell("not run")) for name in names),
        )
        for check in report.checks
        if check.id in ran
    )


def _mutants(report: Report, contract: str, names: tuple[str, ...]) -> tuple[Row, ...]:
    records = [record for record in report.mutants if record.contract == contract]
    cells = {(record.mutant, record.subject): _proof(record) for record in records}
    first = {record.mutant: record for record in reversed(records)}
    return tuple(
        Row(
            mutant,
            f"tolerated by {record.killed_by}" if record.control else record.killed_by,
            record.description,
            tuple(cells.get((mutant, name), Cell("not tried")) for name in names),
        )
        for mutant, record in sorted(first.items())
    )


def _proof(record: MutantRecord) -> Cell:
    return Cell("not tried" if record.proof == Proof.SKIPPED else record.proof, record.reason, record.key)
