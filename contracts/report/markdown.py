"""The Markdown view, as a CI job's summary shows it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from contracts.report.matrix import matrices
from contracts.report.records import Outcome

if TYPE_CHECKING:
    from contracts.report.report import Report

_MARKS = {
    "passed": "pass",
    "failed": "**FAIL**",
    "error": "**ERROR**",
    "survived": "**SURVIVED**",
    "refused": "**REFUSED**",
    "inconclusive": "**INCONCLUSIVE**",
}
_ACTIVE = re.compile(r"([\\`*_{}\[\]<>|#~&])")


def as_markdown(report: Report) -> str:
    """Totals, one table per contract, and every failure in full."""
    lines = [f"## {report.totals}", ""]
    for matrix in matrices(report):
        headings = ["id", matrix.kind, matrix.text, *map(_literal, matrix.subjects)]
        lines += [f"### {_literal(matrix.contract)}", "", _row(headings), _row(["---"] * len(headings))]
        lines += [
            _row(
                [row.id, row.kind, _literal(row.text), *(_MARKS.get(cell.verdict, cell.verdict) for cell in row.cells)]
            )
            for row in matrix.rows
        ]
        lines.append("")
    for result in report.results:
        if result.outcome in {Outcome.FAILED, Outcome.ERROR}:
            lines += [f"### {result.check} on {_literal(result.subject)}", "", *_block(result.failure), ""]
    for mutant in report.mutants:
        if mutant.proof not in {"killed", "held"}:
            heading = f"### {mutant.mutant} {mutant.proof} on {_literal(mutant.subject)}"
            lines += [heading, "", *_block(mutant.reason), ""]
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _literal(text: str) -> str:
    """The text on one line, with everything escaped that Markdown, or the HTML inside it, would take for its own."""
    return _ACTIVE.sub(r"\\\1", " ".join(text.split()))


def _block(text: str) -> list[str]:
    # An indented block, since the text may itself hold a fence.
    return [f"    {line}" for line in text.splitlines()]
