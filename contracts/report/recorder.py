"""Collects the results of contract checks from a pytest run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contracts.check import Check
from contracts.failure import ContractFailure
from contracts.report.opening import catalogue, header
from contracts.report.records import Footer, Outcome, Result
from contracts.report.report import Report
from contracts.report.stream import write
from contracts.verification import Target

if TYPE_CHECKING:
    from collections.abc import Generator

    from contracts.report.records import CheckRecord, Record


class Recorder:
    """A pytest plugin that writes a report of every test marked ``contract`` to ``path``."""

    def __init__(self, path: str, profile: str) -> None:
        self.path = Path(path)
        self.profile = profile
        self.targets: dict[tuple[str, str], Target] = {}
        self.selected: dict[tuple[str, str], int] = {}
        self.results: list[Result] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Record the outcome of one check."""
        report = yield
        parameters = getattr(item, "funcargs", {})
        check, adapter = parameters.get("check"), parameters.get("adapter")
        if call.when == "call" and isinstance(check, Check) and adapter is not None:
            self._record(check, adapter, call.excinfo.value if call.excinfo else None, report)
        return report

    def _record(self, check: Check[Any], adapter: Any, error: BaseException | None, report: pytest.TestReport) -> None:
        from contracts.rooms import load  # noqa: PLC0415 - rooms are loaded when a check of theirs ran

        target = Target(load(check.contract), adapter)
        key = (check.contract, target.name)
        self.targets.setdefault(key, target)
        self.selected[key] = self.selected.get(key, 0) + 1
        self.results.append(
            Result(
                contract=check.contract,
                subject=target.name,
                check=check.id,
                level=check.level,
                outcome=_outcome(error, report),
                seconds=round(report.duration, 4),
                message=str(error).partition("\n")[0] if error else "",
                failure=str(error) if error and report.failed else "",
                case=error.case_json if isinstance(error, ContractFailure) else None,
            )
        )

    def pytest_sessionfinish(self) -> None:
        """Write the report."""
        targets = list(self.targets.values())
        head = header("run", targets, self.selected, self.profile)
        checks: list[CheckRecord] = list(catalogue(targets))
        whole = Report(head, checks, self.results)
        whole.footer = Footer(counts=whole.counts)
        with self.path.open("w", encoding="utf-8") as stream:
            records: list[Record] = [head, *checks, *self.results, whole.footer]
            for record in records:
                write(record, stream)


def _outcome(error: BaseException | None, report: pytest.TestReport) -> Outcome:
    if hasattr(report, "wasxfail"):
        return Outcome.KNOWN if report.skipped else Outcome.PASSED
    if report.skipped:
        return Outcome.SKIPPED
    if report.passed:
        return Outcome.PASSED
    unexpected_pass = error is None
    return Outcome.FAILED if unexpected_pass or isinstance(error, ContractFailure) else Outcome.ERROR
