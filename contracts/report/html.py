"""The HTML view: one static page that loads nothing from elsewhere and runs nothing."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import jinja2

from contracts.report.kills import kill_rows, letter
from contracts.report.matrix import matrices
from contracts.report.summary import not_tried, standings

if TYPE_CHECKING:
    from contracts.report.report import Report

_SIGNS = {
    "passed": "\N{CHECK MARK}",
    "killed": "\N{CHECK MARK}",
    "held": "\N{CHECK MARK}",
    "failed": "\N{BALLOT X}",
    "survived": "\N{BALLOT X}",
    "refused": "\N{BALLOT X}",
    "error": "!",
    "inconclusive": "?",
    "known": "K",
    "skipped": "\N{EN DASH}",
    "not run": "?",
}
#: Columns of the summary beside MUST, each shown where it says something.
_COLUMNS = ("SHOULD", "known", "skipped", "errors", "not run", "killed")


def as_html(report: Report) -> str:
    """Totals, environment, a matrix of checks and one of mutants per contract, and every failure in full.

    Everything is escaped. What is filtered and expanded is so by the page's style alone.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("contracts.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["letter"] = letter
    environment.filters["field"] = _field
    told = [result for result in report.results if result.failure]
    lines = standings(report)
    return environment.get_template("report.html.jinja").render(
        report=report,
        holds=not report.exit_code,
        verdict=report.exit_code.name.lower(),
        standings=[(name, [*own]) for name, own in groupby(lines, key=lambda line: line.contract)],
        columns=[column for column in _COLUMNS if any(getattr(line, _field(column)) for line in lines)],
        contracts=_sections(report),
        levels=sorted({check.level for check in report.checks}),
        signs=_SIGNS,
        anchors={result.key: f"told-{number}" for number, result in enumerate(told)},
    )


def _field(column: str) -> str:
    return column.lower().replace(" ", "_")


def _sections(report: Report) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    every = matrices(report)
    for name in dict.fromkeys(subject.contract for subject in report.header.subjects):
        own = [matrix for matrix in every if matrix.contract.split()[0] == name]
        mutants = [matrix for matrix in own if matrix.kind == "killed by"]
        found.append(
            {
                "name": name,
                "matrices": [matrix for matrix in own if matrix.kind == "level"],
                "kills": [(matrix, kill_rows(report, matrix)) for matrix in mutants],
                "told": [result for result in report.results if result.contract == name and result.failure],
                "untried": not_tried(mutant for mutant in report.mutants if mutant.contract == name),
                "unproved": [
                    mutant
                    for mutant in report.mutants
                    if mutant.contract == name and mutant.proof in {"survived", "refused", "inconclusive"}
                ],
            }
        )
    return found
