"""The Markdown view, as a CI job's summary shows it."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from contracts.report.matrix import matrices
from contracts.report.records import Outcome
from contracts.report.summary import not_tried, standings

if TYPE_CHECKING:
    from contracts.report.report import Report

_MARKS = {
    "passed": "pass",
    "failed": "**FAIL**",
    "error": "**ERROR**",
    "not run": "**NOT RUN**",
    "survived": "**SURVIVED**",
    "refused": "**REFUSED**",
    "inconclusive": "**INCONCLUSIVE**",
}
_FOLD, _UNFOLD = "<details>", "</details>"
_ACTIVE = re.compile(r"([\\`*_{}\[\]<>|#~&])")


def as_markdown(report: Report) -> str:
    """Totals, where each adapter stands, every failure in full, and one table per contract, folded."""
    lines = [f"## {report.totals}", ""]
    columns = ["contract", "adapter", "MUST", "SHOULD", "known", "skipped", "errors", "not run", "killed"]
    lines += [_row(columns), _row(["---"] * len(columns))]
    for standing in standings(report):
        counts = (standing.known, standing.skipped, standing.errors, standing.not_run)
        words = [standing.contract, standing.subject, standing.must, standing.should]
        lines.append(_row([*map(_literal, words), *(str(count or "") for count in counts), standing.killed]))
    lines.append("")
    for result in report.results:
        if result.outcome in {Outcome.FAILED, Outcome.ERROR, Outcome.NOT_RUN}:
            lines += [f"### {result.check} on {_literal(result.subject)}", "", *_block(result.failure), ""]
    for mutant in report.mutants:
        if mutant.proof not in {"killed", "held", "skipped"}:
            heading = f"### {mutant.mutant} {mutant.proof} on {_literal(mutant.subject)}"
            lines += [heading, "", *_block(mutant.reason), ""]
    known = [result for result in report.results if result.outcome is Outcome.KNOWN]
    if known:
        lines += ["### Known failures", ""]
        lines += [f"- {result.check} on {_literal(result.subject)}: {_literal(result.message)}" for result in known]
        lines.append("")
    if untried := not_tried(report.mutants):
        lines += [_FOLD, "<summary>mutants and controls that were not tried</summary>", ""]
        lines += [*(f"- {_literal(line)}" for line in untried), "", _UNFOLD, ""]
    for matrix in matrices(report):
        headings = ["id", matrix.kind, matrix.text, *map(_literal, matrix.subjects)]
        lines += [_FOLD, f"<summary>{html.escape(matrix.contract)}</summary>", ""]
        lines += [_row(headings), _row(["---"] * len(headings))]
        lines += [
            _row(
                [row.id, row.kind, _literal(row.text), *(_MARKS.get(cell.verdict, cell.verdict) for cell in row.cells)]
            )
            for row in matrix.rows
        ]
        lines += ["", _UNFOLD, ""]
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _literal(text: str) -> str:
    """The text on one line, with everything escaped that Markdown, or the HTML inside it, would take for its own."""
    return _ACTIVE.sub(r"\\\1", " ".join(text.split()))


def _block(text: str) -> list[str]:
    # An indented block, since the text may itself hold a fence.
    return [f"    {line}" for line in text.splitlines()]
