"""The kill matrix as a table of checks: in a row a check, in its cells the mutants that it must kill."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contracts.report.matrix import Matrix, Row
    from contracts.report.report import Report


@dataclass(frozen=True, slots=True)
class KillRow:
    """A check and everything that was seeded for it.

    Attributes:
        check: Id of the check.
        level: Its level.
        claim: What it claims.
        seeds: A row of the matrix of mutants for each mutant and control.
    """

    check: str
    level: str
    claim: str
    seeds: tuple[Row, ...]

    @property
    def clean(self) -> bool:
        """Whether every mutant was killed and every control tolerated, by every adapter that it was tried on."""
        return all(seed.clean for seed in self.seeds)


def kill_rows(report: Report, matrix: Matrix) -> list[KillRow]:
    """The rows of a matrix of mutants, one per check."""
    checks = {check.id: check for check in report.checks}
    killers = {mutant.mutant: mutant.killed_by for mutant in report.mutants}
    rows = sorted(matrix.rows, key=lambda row: (killers[row.id], row.id))
    return [
        KillRow(check_id, checks[check_id].level, checks[check_id].claim, tuple(seeds))
        for check_id, seeds in groupby(rows, key=lambda row: killers[row.id])
    ]


def letter(mutant_id: str) -> str:
    """What tells a mutant from the others of its check: ``a`` for ``GO-M101a``, ``M`` for ``GO-M101``."""
    return mutant_id[-1] if mutant_id[-1].isalpha() else mutant_id[3]
