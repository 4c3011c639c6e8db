"""Probe services of the three kinds that are known, the reference's loggers against them, and real processes.

The modules of ``processes`` are importable for the tests of this room.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contracts.metrics_wire.probe import Probe, Semantics
from impl.metrics_wire.logger import NemoRLLogger
from impl.metrics_wire.reporter import JobsServiceProgressReporter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import NoReturn

    from chromium import Chromium
    from postgresql import PostgreSQL
    from task_page import TaskPage

    from impl.metrics_wire.service.adapter import ServiceAdapter

    NotHere = Callable[[str, str], NoReturn]

sys.path.insert(0, str(Path(__file__).parent / "processes"))


@pytest.fixture(scope="session")
def postgresql(not_here: NotHere) -> Iterator[PostgreSQL]:
    """A PostgreSQL of this session; each test takes databases of its own from ``create_database()``."""
    from postgresql import MISSING, PostgreSQL, programs  # noqa: PLC0415 - importable since this file ran

    if not programs():
        not_here("postgresql", MISSING)
    with PostgreSQL() as server:
        yield server


@pytest.fixture
def page_of(browser: Chromium) -> Callable[[ServiceAdapter, str], TaskPage]:
    """The page of a job's only task."""
    from task_page import TaskPage  # noqa: PLC0415 - importable since this file ran

    def of(service: ServiceAdapter, job: str) -> TaskPage:
        path = f"/apis/jobs/v2/workspaces/research/jobs/{job}/steps/train/tasks/main"
        return TaskPage(browser, service.base_url + path)

    return of


@pytest.fixture
def artefacts(tmp_path: Path) -> Path:
    """Where pictures are kept: in the folder that ``CONTRACTS_ARTEFACTS`` names, else in one of pytest's."""
    folder = Path(os.environ.get("CONTRACTS_ARTEFACTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(params=["replace", "merge", "append"])
def probe(request: pytest.FixtureRequest) -> Iterator[Probe]:
    """A service that replaces, one that merges, and one that replaces and appends."""
    semantics = Semantics.MERGE if request.param == "merge" else Semantics.REPLACE
    with Probe(semantics, append=request.param == "append") as service:
        yield service


@pytest.fixture
def appending() -> Iterator[Probe]:
    with Probe(append=True) as service:
        yield service


@pytest.fixture
def replacing() -> Iterator[Probe]:
    with Probe(append=False) as service:
        yield service


@pytest.fixture
def start() -> Iterator[Callable[..., NemoRLLogger]]:
    """Build loggers; each is closed at the end of the test."""
    loggers: list[NemoRLLogger] = []

    def build(
        service: Probe,
        max_steps: int = 23,
        num_epochs: int = 1,
        val_period: int = 0,
        steps_per_epoch: int | None = None,
        **reporter: Any,
    ) -> NemoRLLogger:
        reporting = JobsServiceProgressReporter(service.task_url(), **reporter)
        logger = NemoRLLogger.for_schedule(max_steps, num_epochs, val_period, steps_per_epoch, reporter=reporting)
        loggers.append(logger)
        return logger

    yield build
    for logger in loggers:
        logger.close()


@pytest.fixture
def details() -> Callable[[Probe], dict[str, Any]]:
    """The stored ``status_details`` without the series."""

    def of(service: Probe) -> dict[str, Any]:
        task = service.stored() or {"status_details": {}}
        return {name: value for name, value in task["status_details"].items() if name != "metrics"}

    return of


@pytest.fixture
def series() -> Callable[[Probe, str], dict[int, Any]]:
    """The values of a stored series by step; its steps must be ascending and single."""

    def of(service: Probe, name: str) -> dict[int, Any]:
        task = service.stored() or {"status_details": {}}
        points = task["status_details"].get("metrics", {}).get(name, [])
        steps = [point["step"] for point in points]
        assert steps == sorted(set(steps)), f"{name} is not ascending and single: {steps}"
        return {point["step"]: point["value"] for point in points}

    return of
