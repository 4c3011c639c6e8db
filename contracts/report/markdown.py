"""The Markdown view, as a CI job's summary shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.report.matrix import matrices
from contracts.report.records import Outcome

if TYPE_CHECKING:
    from contracts.report.report import Report

_MARKS = {"passed": "pass", "failed": "**FAIL**", "error": "**ERROR**", "survived": "**SURVIVED**"}


def as_markdown(report: Report) -> str:
    """Totals, one table per contract, and every failure in full."""
    lines = [f"## {report.totals}", ""]
    for matrix in matrices(report):
        headings = ["id", matrix.kind, matrix.text, *matrix.subjects]
        lines += [f"### {matrix.contract}", "", _row(headings), _row(["---"] * len(headings))]
        lines += [
            _row([row.id, row.kind, row.text, *(_MARKS.get(cell.verdict, cell.verdict) for cell in row.cells)])
            for row in matrix.rows
        ]
        lines.append("")
    for result in report.results:
        if result.outcome in {Outcome.FAILED, Outcome.ERROR}:
            lines += [f"### {result.check} on {result.subject}", "", *_block(result.failure), ""]
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _block(text: str) -> list[str]:
    # An indented block, since the text may itself hold a fence.
    return [f"    {line}" for line in text.splitlines()]
