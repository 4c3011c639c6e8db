"""Recorded answers run through a Gym's classifier, plain or behind the reference middleware."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.gym import verdict
from contracts.gym_overflow.recorded_answers import CorpusError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contracts.gym_overflow.gym import GymSource

_REFERENCE = "impl.gym_overflow.replay", "through_reference"
MEASURED = "measured"


@dataclass(frozen=True, slots=True)
class ReplayedRow:
    """One recorded answer and what became of it.

    Attributes:
        number: Number of the row, from 1.
        row: The row itself.
        status: Status that the classifier saw.
        body: Body that the classifier saw.
        classified: Whether every site classified it.
        classified_anywhere: Whether any site did.
        decided_by: What the middleware decided by, empty without it.
    """

    number: int
    row: dict[str, Any]
    status: int
    body: str
    classified: bool
    classified_anywhere: bool
    decided_by: str = ""

    @property
    def missed(self) -> bool:
        """An overflow that some site does not classify."""
        return self.row["kind"] == "overflow" and not self.classified

    @property
    def false_alarm(self) -> bool:
        """Something else that some site classifies."""
        return self.row["kind"] == "not_overflow" and self.classified_anywhere

    @property
    def measured(self) -> bool:
        """Whether the row was measured on a real server, and not taken from a public report."""
        return str(self.row.get("source", MEASURED)) == MEASURED


@dataclass(frozen=True, slots=True)
class Replay:
    """All rows of a corpus.

    Attributes:
        gym: Name of the Gym.
        release: Its release, ``None`` where it is not known.
        through: Whether the rows went through the reference middleware.
        rows: What became of each.
    """

    gym: str
    release: str | None
    through: bool
    rows: tuple[ReplayedRow, ...]

    @property
    def disagreements(self) -> tuple[ReplayedRow, ...]:
        """Rows whose verdict is not the recorded one; only meaningful without the middleware."""
        return () if self.through else tuple(row for row in self.rows if row.classified != self._recorded(row))

    @property
    def holds(self) -> bool:
        """Without the middleware: no disagreement. With it: no measured overflow missed and no false alarm."""
        if not self.through:
            return not self.disagreements
        return not any(row.false_alarm or (row.missed and row.measured) for row in self.rows)

    def _recorded(self, row: ReplayedRow) -> bool:
        verdicts = row.row["gym_verdict"]
        # A release that was not recorded is held against those that were.
        return bool(verdicts.get(self.release, all(verdicts.values())))


def replayed(rows: Sequence[dict[str, Any]], gym: GymSource) -> Replay:
    """Every row's answer as it was recorded.

    Raises:
        GymError: If the Gym's source cannot be read.
    """
    found = (_row(number, row, row["status"], row["body"], gym) for number, row in enumerate(rows, 1))
    return Replay(gym.name, gym.release, through=False, rows=tuple(found))


def replayed_through_reference(rows: Sequence[dict[str, Any]], gym: GymSource) -> Replay:
    """Every row's answer as the reference middleware hands it on.

    Raises:
        GymError: If the Gym's source cannot be read.
        CorpusError: If a row does not say which endpoint it is from.
    """
    for number, row in enumerate(rows, 1):
        if row.get("endpoint") is None:
            raise CorpusError(f"row {number} has no endpoint, which the reference middleware needs: the request's path")
    module, name = _REFERENCE
    answers = getattr(importlib.import_module(module), name)(rows)
    found = (
        _row(number, row, answer["status"], answer["body"], gym, answer["decided_by"])
        for number, (row, answer) in enumerate(zip(rows, answers, strict=True), 1)
    )
    return Replay(gym.name, gym.release, through=True, rows=tuple(found))


def _row(number: int, row: dict[str, Any], status: int, body: str, gym: GymSource, decided_by: str = "") -> ReplayedRow:
    decided = verdict(gym, status, body)
    return ReplayedRow(number, row, status, body, decided.overflow, decided.overflow_anywhere, decided_by)
