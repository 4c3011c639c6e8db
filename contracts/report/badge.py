"""The badge view: the endpoint format of shields.io, with counts and never a percentage of a mix of levels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from contracts.level import Level
from contracts.report.records import Outcome
from contracts.report.report import ExitCode

if TYPE_CHECKING:
    from contracts.report.report import Report

_COLOURS = {
    ExitCode.HOLDS: "brightgreen",
    ExitCode.FAILED: "red",
    ExitCode.ERROR: "orange",
    ExitCode.INCOMPLETE: "orange",
}


def as_badge(report: Report) -> str:
    """JSON such as ``{"label": "contracts", "message": "MUST 12/12", ...}``; mutants are shown as killed of tried."""
    if report.header.command == "mutants":
        counts = report.counts
        tried = counts["killed"] + counts["survived"] + counts["inconclusive"]
        message = f"mutants {counts['killed']}/{tried}"
    else:
        must = [result for result in report.results if result.level == Level.MUST]
        ran = [result for result in must if result.outcome is not Outcome.SKIPPED]
        message = f"MUST {sum(result.outcome is Outcome.PASSED for result in ran)}/{len(ran)}"
    colour = _COLOURS[report.exit_code]
    return json.dumps({"schemaVersion": 1, "label": "contracts", "message": message, "color": colour})
