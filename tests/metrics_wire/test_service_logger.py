"""The room's two sides together: the logger and the runner report to the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from live_service import live

from impl.metrics_wire.logger import NemoRLLogger
from impl.metrics_wire.reporter import JobsServiceProgressReporter
from impl.metrics_wire.service.settings import Rule

if TYPE_CHECKING:
    from pathlib import Path

    from live_service import LiveService

STEPS = 60
METRICS = 20
TOKEN = "s3cret"  # noqa: S105 - of a service that lives as long as a test


@pytest.mark.parametrize("rule", Rule)
def test_a_run_that_is_killed_and_resumed_keeps_one_curve_to_its_end(tmp_path: Path, rule: Rule) -> None:
    with live(str(tmp_path / "jobs.sqlite"), rule=rule, token=TOKEN) as service:
        runner = reporter(service)
        assert runner.report_running("compiling_config")
        train(service, range(1, 36))
        train(service, range(31, STEPS + 1))
        assert runner.report_running("processing_checkpoint")
        assert runner.report_completed()
        runner.close()
        assert_complete(service)
        stored = service.stored()
        assert (stored["status"], stored["status_details"]["phase"]) == ("completed", "completed")


def test_a_logger_appends_in_pieces_that_the_service_takes(tmp_path: Path) -> None:
    with live(str(tmp_path / "jobs.sqlite"), max_body=8000, token=TOKEN) as service:
        train(service, range(1, 36))
        train(service, range(31, STEPS + 1))
        assert_complete(service)


def reporter(service: LiveService) -> JobsServiceProgressReporter:
    return JobsServiceProgressReporter(service.url + service.path(), token=TOKEN)


def train(service: LiveService, steps: range) -> None:
    """One process of a run."""
    reporting = reporter(service)
    logger = NemoRLLogger.for_schedule(STEPS, 1, 10, reporter=reporting)
    for step in steps:
        logger.log_metrics({"loss": step / 7, **{f"m{n}": step * n for n in range(METRICS)}}, step, "train")
        if step % 10 == 0:
            logger.log_metrics({"accuracy": step, "loss": float(steps[0])}, step, "validation")
    logger.close()
    reporting.close()


def assert_complete(service: LiveService) -> None:
    series = service.series()
    assert series["train_loss"] == [(step, step / 7) for step in range(1, STEPS + 1)]
    assert series["train_m3"] == [(step, step * 3) for step in range(1, STEPS + 1)]
    assert series["val_accuracy"] == [(step, step) for step in range(10, STEPS + 1, 10)]
    assert series["val_loss"] == [(step, 1.0 if step <= 30 else 31.0) for step in range(10, STEPS + 1, 10)]
