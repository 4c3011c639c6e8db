"""The badge view: the endpoint format of shields.io, with counts and never a percentage of a mix of levels."""

from __future__ import annotations

import json
from collections import Counter
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
    """JSON such as ``{"label": "contracts", "message": "MUST 41/41", ...}``.

    Only a MUST counts: how many hold of those that ran, or should have, how many of the others are known failures, and
    how many mutants were killed of those tried.
    """
    parts = []
    if report.holds("run"):
        must = Counter(result.outcome for result in report.results if result.level == Level.MUST)
        parts.append(f"MUST {must[Outcome.PASSED]}/{must.total() - must[Outcome.SKIPPED]}")
        if must[Outcome.KNOWN]:
            parts.append(f"{must[Outcome.KNOWN]} known")
    if report.holds("mutants"):
        proofs = report.proofs
        tried = proofs["killed"] + proofs["survived"] + proofs["inconclusive"]
        parts.append(f"mutants {proofs['killed']}/{tried}")
    colour = _COLOURS[report.exit_code]
    return json.dumps({"schemaVersion": 1, "label": "contracts", "message": ", ".join(parts), "color": colour})
