"""The HTML view: one static page that loads nothing from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jinja2

from contracts.report.matrix import matrices
from contracts.report.records import Outcome

if TYPE_CHECKING:
    from contracts.report.report import Report


def as_html(report: Report) -> str:
    """Totals, environment, one table per contract, and every failure in full; everything is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("contracts.report"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template("report.html.jinja").render(
        header=report.header,
        totals=report.totals,
        holds=not report.exit_code,
        verdict=report.exit_code.name.lower(),
        matrices=matrices(report),
        failures=[result for result in report.results if result.outcome in {Outcome.FAILED, Outcome.ERROR}],
        unproved=[mutant for mutant in report.mutants if mutant.proof not in {"killed", "held"}],
    )
