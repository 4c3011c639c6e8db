"""Collects what a pytest run found of checks, mutants and controls."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contracts.report.opening import catalogue, header
from contracts.report.records import Footer, MutantRecord, Record, Result
from contracts.report.report import Report
from contracts.report.stream import write
from contracts.report.trial import Trial, is_trial
from contracts.sighting import watched
from contracts.verification import Target

if TYPE_CHECKING:
    from collections.abc import Generator

    from contracts.sighting import Sighting


class NotBuilt:
    """Stands for an adapter that no test got to see, under the name of the test that asked for it."""

    def __init__(self, name: str) -> None:
        self.name = name


class Recorder:
    """A pytest plugin that writes a report of every test of `Contract.parametrize` and its two siblings to ``path``.

    What did not run is in the report: a fixture that fails is an ``error`` of each check that needs it, a skip is
    ``not run``, and neither takes the results of other adapters with it. A session that was stopped, or that could not
    collect all of its tests, leaves a report without a footer: it reads as truncated.
    """

    def __init__(self, path: str, profile: str) -> None:
        self.path = Path(path)
        self.profile = profile
        #: Number of tests to come, ``None`` until all are collected.
        self.collected: int | None = None
        self.broken = False
        self.trials: list[Trial] = []
        self.sightings: list[Sighting] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note that a file could not be collected: nobody knows which checks it holds."""
        self.broken = self.broken or report.failed

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the tests to come."""
        self.collected = sum(map(is_trial, session.items))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None]:
        """Watch which adapter the test tries something on."""
        with watched() as self.sightings:
            yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Keep how the test ended, in its fixtures or in its call."""
        report = yield
        if is_trial(item) and (call.when == "call" or (call.when == "setup" and call.excinfo)):
            raised = call.excinfo.value if call.excinfo else None
            seen = self.sightings if call.when == "call" else []
            fixture = getattr(item, "funcargs", {}).get("adapter")
            self.trials.append(Trial(item, report, raised, seen, fixture))
        return report

    def pytest_sessionfinish(self) -> None:
        """Write the report."""
        targets, records = self._records()
        results = [record for record in records if isinstance(record, Result)]
        mutants = [record for record in records if isinstance(record, MutantRecord)]
        command = " and ".join(name for name, found in (("run", results), ("mutants", mutants)) if found) or "run"
        selected = Counter((record.contract, record.subject) for record in records)
        head = header(command, targets, selected, self.profile)
        checks = list(catalogue(targets))
        stream: list[Record] = [head, *checks, *records]
        if len(self.trials) == self.collected and not self.broken:
            stream.append(Footer(counts=Report(head, checks, results, mutants).counts))
        with self.path.open("w", encoding="utf-8") as file:
            for record in stream:
                write(record, file)

    def _records(self) -> tuple[list[Target], list[Result | MutantRecord]]:
        # An adapter that a function got to see in another of its tests is the one that this test did not get.
        seen = {(trial.origin, trial.contract.name): trial for trial in self.trials if trial.adapter is not None}
        targets: dict[tuple[str, str], Target] = {}
        records: list[Result | MutantRecord] = []
        for trial in self.trials:
            adapter = seen.get((trial.origin, trial.contract.name), trial).adapter
            if trial.adapter is not None:
                adapter = trial.adapter
            target = Target(trial.contract, NotBuilt(trial.origin) if adapter is None else adapter, trial.version)
            try:
                trial.contract.capabilities_of(target.adapter)
            except ValueError:
                # It declares what does not exist: every check on it is an error that says so.
                target = Target(trial.contract, NotBuilt(target.name), trial.version)
            target = targets.setdefault((trial.contract.name, target.name), target)
            records.append(trial.record(target.name))
        return list(targets.values()), records
