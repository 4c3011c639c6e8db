"""Collects the results of contract checks from a pytest run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contracts.check import Check
from contracts.failure import ContractFailure
from contracts.level import Level
from contracts.report.opening import catalogue, header
from contracts.report.records import Footer, Outcome, Result
from contracts.report.report import Report
from contracts.report.stream import write
from contracts.verification import Target

if TYPE_CHECKING:
    from collections.abc import Generator

    from contracts.report.records import CheckRecord, Record


class Recorder:
    """A pytest plugin that writes a report of every test marked ``contract`` to ``path``.

    A report whose collected checks did not all run, because the session was stopped or an adapter could not be built,
    gets no footer: it reads as truncated.
    """

    def __init__(self, path: str, profile: str) -> None:
        self.path = Path(path)
        self.profile = profile
        self.collected = 0
        self.targets: dict[tuple[str, str], Target] = {}
        self.selected: dict[tuple[str, str], int] = {}
        self.results: list[Result] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the checks to come."""
        self.collected = sum(item.get_closest_marker("contract") is not None for item in session.items)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Record the outcome of one check."""
        report = yield
        parameters = getattr(item, "funcargs", {})
        check, adapter = parameters.get("check"), parameters.get("adapter")
        marker = item.get_closest_marker("contract")
        if call.when == "call" and marker and isinstance(check, Check) and adapter is not None:
            raised = call.excinfo.value if call.excinfo else None
            # A failed SHOULD reaches pytest as an xfail that was caused by the failure.
            error = raised.__cause__ if isinstance(raised, pytest.xfail.Exception) else raised
            self._record(marker, check, adapter, error, report)
        return report

    def _record(
        self,
        marker: pytest.Mark,
        check: Check[Any],
        adapter: Any,
        error: BaseException | None,
        report: pytest.TestReport,
    ) -> None:
        known = marker.kwargs["known"]
        target = Target(marker.args[0], adapter, marker.kwargs["version"])
        key = (check.contract, target.name)
        self.targets.setdefault(key, target)
        self.selected[key] = self.selected.get(key, 0) + 1
        outcome = _outcome(error, report, binding=known or check.level is Level.MUST)
        shown = str(error) if error else str(report.longrepr or "")
        line = error.message if isinstance(error, ContractFailure) else shown.partition("\n")[0]
        self.results.append(
            Result(
                contract=check.contract,
                subject=target.name,
                check=check.id,
                # A known failure is strict at every level: what it says must be true.
                level=Level.MUST if known and outcome is Outcome.FAILED else check.level,
                outcome=outcome,
                seconds=round(report.duration, 4),
                message=report.wasxfail if outcome is Outcome.KNOWN else line,
                failure=shown if outcome in {Outcome.FAILED, Outcome.ERROR, Outcome.KNOWN} else "",
                case=error.case_json if isinstance(error, ContractFailure) else None,
            )
        )

    def pytest_sessionfinish(self) -> None:
        """Write the report."""
        targets = list(self.targets.values())
        head = header("run", targets, self.selected, self.profile)
        checks: list[CheckRecord] = list(catalogue(targets))
        records: list[Record] = [head, *checks, *self.results]
        if len(self.results) == self.collected:
            records.append(Footer(counts=Report(head, checks, self.results).counts))
        with self.path.open("w", encoding="utf-8") as stream:
            for record in records:
                write(record, stream)


def _outcome(error: BaseException | None, report: pytest.TestReport, *, binding: bool) -> Outcome:
    if hasattr(report, "wasxfail"):
        if not report.skipped:
            return Outcome.PASSED
        return Outcome.KNOWN if binding else Outcome.FAILED
    if report.skipped:
        return Outcome.SKIPPED
    if report.passed:
        return Outcome.PASSED
    unexpected_pass = error is None
    return Outcome.FAILED if unexpected_pass or isinstance(error, ContractFailure) else Outcome.ERROR
