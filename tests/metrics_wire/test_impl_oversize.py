"""An update that the service finds too large with its series: the status arrives, and the curves stay."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager, closing
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from live_service import live

from contracts.metrics_wire.probe import Fault, Probe, Semantics
from impl.metrics_wire.reporter import JobsServiceProgressReporter
from impl.metrics_wire.service.settings import Rule

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 2000
STEPS = range(1, 101)
METRICS = {
    "train_loss": [{"step": step, "epoch": 1, "value": 1 / step} for step in STEPS],
    "val_loss": [],
    "train_reward": [{"step": step, "epoch": 1, "value": step} for step in STEPS],
}
DETAILS = {"phase": "training", "step": 100}


def reporter_at(
    url: str, transport: httpx.BaseTransport | None = None
) -> AbstractContextManager[JobsServiceProgressReporter]:
    return closing(JobsServiceProgressReporter(url, patience_s=0.2, transport=transport))


def probe_of(*, keeps_appended: bool = True, append: bool = True, rule: Semantics = Semantics.REPLACE) -> Probe:
    return Probe(rule, append=append, keeps_appended=keeps_appended, max_body=LIMIT)


def stored(probe: Probe) -> dict[str, Any]:
    task = probe.stored()
    assert task is not None
    return task


@pytest.mark.parametrize("was_appended", [True, False], ids=["appended", "written"])
@pytest.mark.parametrize("rule", Rule)
def test_the_last_reports_reach_the_real_service_and_the_curves_stay(
    tmp_path: Path, rule: Rule, *, was_appended: bool
) -> None:
    file = str(tmp_path / "jobs.sqlite")
    with live(file, rule=rule) as service:
        service.put({"status": "active", "status_details": DETAILS | ({} if was_appended else {"metrics": METRICS})})
        if was_appended:
            service.append(METRICS)
        before = service.series()
    with live(file, rule=rule, max_body=LIMIT) as service, reporter_at(service.url + service.path()) as reporter:
        assert reporter.report_running("processing_checkpoint")
        assert reporter.report_completed("done")
        task = service.stored()
        assert (task["status"], task["status_details"]["phase"]) == ("completed", "completed")
        assert ("step" in task["status_details"]) is (rule is Rule.MERGE)
        assert service.series() == before
        assert reporter.report_error("failed", error_stack="Traceback ...")
        assert (service.stored()["status"], service.stored()["error_stack"]) == ("error", "Traceback ...")
        assert service.series() == before


@pytest.mark.parametrize("keeps_appended", [True, False], ids=["keeps", "drops"])
@pytest.mark.parametrize("rule", Semantics)
def test_a_service_that_appends_has_the_status_and_every_point(rule: Semantics, *, keeps_appended: bool) -> None:
    with probe_of(rule=rule, keeps_appended=keeps_appended) as probe, reporter_at(probe.task_url()) as reporter:
        probe.preset(status="active", details=DETAILS | {"metrics": METRICS})
        assert reporter.report_completed()
        assert stored(probe)["status"] == "completed"
        assert stored(probe)["status_details"]["phase"] == "completed"
        assert stored(probe)["status_details"]["metrics"] == METRICS
        assert [request.method for request in probe.requests].count("GET") == 1


@pytest.mark.parametrize("rule", Semantics)
def test_a_service_that_cannot_append_has_the_status_and_is_left_the_curves(
    rule: Semantics, caplog: pytest.LogCaptureFixture
) -> None:
    with probe_of(rule=rule, append=False) as probe, reporter_at(probe.task_url()) as reporter:
        probe.preset(status="active", details=DETAILS | {"metrics": METRICS})
        with caplog.at_level(logging.ERROR):
            assert reporter.report_error("failed", error_stack="Traceback ...") is False
        task = stored(probe)
        assert (task["status"], task["error_stack"]) == ("error", "Traceback ...")
        assert task["error_details"] == {"message": "failed"}
        assert task["status_details"] == DETAILS | {"metrics": METRICS}
    assert "'error' was delivered without ['status_details'], too large" in caplog.text


@pytest.mark.parametrize("metrics", [METRICS, {"train_loss": [], "val_loss": []}], ids=["with series", "without"])
def test_a_stack_that_is_too_large_is_left_out_and_the_log_says_so(
    metrics: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    with probe_of() as probe, reporter_at(probe.task_url()) as reporter:
        probe.preset(status="active", details={"metrics": metrics})
        assert reporter.report_error("failed", error_stack="x" * LIMIT) is False
        task = stored(probe)
        assert (task["status"], task["error_details"], task["error_stack"]) == ("error", {"message": "failed"}, None)
        assert task["status_details"] == {"message": "failed", "metrics": metrics}
        assert "'error' was delivered without ['error_stack'], too large" in caplog.text
        assert reporter.update_task("cancelled", error_details={"message": "x" * LIMIT}) is False
        assert stored(probe)["status"] == "cancelled"
        assert stored(probe)["status_details"] == {"message": "failed", "metrics": metrics}
    assert "'cancelled' was delivered without ['error_details', 'status_details'], too large" in caplog.text


def test_series_that_could_not_be_put_back_are_told(caplog: pytest.LogCaptureFixture) -> None:
    class GoesAwayAfterAnUpdate(httpx.HTTPTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            answer = super().handle_request(request)
            if request.method == "PUT" and answer.is_success:
                probe.faults.arm(Fault("answer", 500))
            return answer

    with probe_of(keeps_appended=False) as probe, reporter_at(probe.task_url(), GoesAwayAfterAnUpdate()) as reporter:
        probe.preset(status="active", details={"metrics": METRICS})
        assert reporter.report_completed() is False
        assert stored(probe)["status"] == "completed"
    assert "'completed' was delivered, series ['train_loss', 'train_reward', 'val_loss'] may be lost" in caplog.text


def test_nothing_changes_where_the_service_goes_away_in_between(caplog: pytest.LogCaptureFixture) -> None:
    with probe_of() as probe, reporter_at(probe.task_url()) as reporter:
        probe.preset(status="active", details=DETAILS | {"metrics": METRICS})
        probe.faults.arm(Fault("answer", 503, methods=("POST",)))
        assert reporter.report_completed() is False
        assert stored(probe)["status"] == "active"
        assert stored(probe)["status_details"] == DETAILS | {"metrics": METRICS}
    assert "status 'completed' of the task was not delivered" in caplog.text
