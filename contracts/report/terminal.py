"""The terminal view: tables, then what failed and why. Plain ASCII where the output is no terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from contracts.report.matrix import Matrix, matrices
from contracts.report.records import Outcome
from contracts.report.summary import not_tried

if TYPE_CHECKING:
    from contracts.report.report import Report

_STYLES = {
    "passed": "green",
    "killed": "green",
    "held": "green",
    "failed": "bold red",
    "survived": "bold red",
    "refused": "bold red",
    "error": "bold magenta",
    "not run": "bold magenta",
    "inconclusive": "bold magenta",
    "known": "yellow",
    "skipped": "dim",
    "not tried": "dim",
}
_PLAIN_WIDTH = 160
_TEXT_WIDTH = 32


def show(report: Report, console: Console) -> None:
    """Print every table, why checks may fail and mutants were not tried, and the text of each failure and survivor."""
    for matrix in matrices(report):
        console.print(_table(matrix, plain=not console.is_terminal))
    for result in report.results:
        if result.outcome is Outcome.KNOWN:
            line = f"known: {result.check} on {result.subject}: {result.message}"
            console.print(Text(line, style=_STYLES[result.outcome]), soft_wrap=True)
    for line in not_tried(report.mutants):
        console.print(Text(line, style=_STYLES["not tried"]), soft_wrap=True)
    for result in report.results:
        if result.outcome in {Outcome.FAILED, Outcome.ERROR}:
            console.print(Text(f"\n{result.subject}: {result.failure}", style=_STYLES[result.outcome]), soft_wrap=True)
        elif result.outcome is Outcome.NOT_RUN:
            line = f"\nnot run: {result.check} on {result.subject}: {result.message}"
            console.print(Text(line, style=_STYLES[result.outcome]), soft_wrap=True)
    for mutant in report.mutants:
        if mutant.proof in {"survived", "refused", "inconclusive"}:
            line = f"\n{mutant.subject}: {mutant.mutant} {mutant.proof}: {mutant.reason}"
            console.print(Text(line, style=_STYLES[mutant.proof]), soft_wrap=True)


def output() -> Console:
    """A console on standard output, as wide as the terminal, or wide enough for the tables where there is none."""
    console = _literal()
    return console if console.is_terminal else _literal(width=_PLAIN_WIDTH)


def as_text(report: Report) -> str:
    """What `show` prints, as plain text."""
    stream = io.StringIO()
    show(report, _literal(file=stream, width=_PLAIN_WIDTH))
    return stream.getvalue()


def _literal(**options: Any) -> Console:
    """A console that prints text as it is: a claim or a name may hold what Rich takes for markup or an emoji."""
    return Console(highlight=False, markup=False, emoji=False, **options)


def _table(matrix: Matrix, *, plain: bool) -> Table:
    table = Table(
        title=f"{matrix.contract}: {', '.join(matrix.subjects)}",
        title_justify="left",
        title_style="" if plain else "bold",
        box=box.ASCII2 if plain else box.SIMPLE_HEAD,
    )
    table.add_column("id", no_wrap=True)
    # Folded, since a cut is shown by a sign beyond ASCII and hides what it cuts.
    table.add_column(matrix.kind, overflow="fold", min_width=6)
    table.add_column(matrix.text, overflow="fold", ratio=1, min_width=_TEXT_WIDTH)
    for subject in matrix.columns:
        table.add_column(subject, overflow="fold", min_width=7)
    for row in matrix.rows:
        cells = [Text(cell.verdict, style=_STYLES.get(cell.verdict, "")) for cell in row.cells]
        table.add_row(row.id, row.kind, row.text, *cells)
    return table
