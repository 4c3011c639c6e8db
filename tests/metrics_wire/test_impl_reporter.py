"""Direct reports, as the runner makes them: whatever they say, the curves stay."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from contracts.metrics_wire.probe import Fault, Probe
from impl.metrics_wire.client import ServiceUnavailableError
from impl.metrics_wire.reporter import JobsServiceProgressReporter
from impl.metrics_wire.series import Point

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

METRICS = {"train_loss": [{"step": 1, "epoch": 1, "value": 0.5}], "val_loss": []}
POINTS = {"train_loss": [Point(1, 1, 0.5)], "val_loss": []}


@pytest.fixture
def reporter(probe: Probe) -> Iterator[JobsServiceProgressReporter]:
    reporter = JobsServiceProgressReporter(probe.task_url(), patience_s=0.2)
    yield reporter
    reporter.close()


def preset(probe: Probe) -> None:
    probe.preset(status="active", details={"metrics": METRICS, "phase": "training", "step": 1, "train_lr": 1e-5})


LAST_WRITES: list[Callable[[JobsServiceProgressReporter], bool]] = [
    lambda reporter: reporter.report_running("processing_checkpoint"),
    lambda reporter: reporter.report_completed("Training completed"),
    lambda reporter: reporter.report_error("CUDA out of memory", error_stack="Traceback ..."),
    lambda reporter: reporter.update_task("cancelled"),
]


@pytest.mark.parametrize("write", LAST_WRITES, ids=["running", "completed", "error", "cancelled"])
def test_the_curves_survive_and_the_read_is_the_only_one(
    probe: Probe, reporter: JobsServiceProgressReporter, write: Callable[[JobsServiceProgressReporter], bool]
) -> None:
    preset(probe)
    assert write(reporter)
    stored = probe.stored()
    assert stored is not None
    assert stored["status_details"]["metrics"] == METRICS
    assert [request.method for request in probe.requests] == ["GET", "PUT"]


def test_only_the_series_are_carried_over(replacing: Probe) -> None:
    preset(replacing)
    reporter = JobsServiceProgressReporter(replacing.task_url())
    assert reporter.report_completed()
    reporter.close()
    stored = replacing.stored()
    assert stored is not None
    assert stored["status"] == "completed"
    assert stored["status_details"].keys() == {"phase", "message", "metrics"}


def test_an_update_that_carries_series_reads_nothing(probe: Probe, reporter: JobsServiceProgressReporter) -> None:
    assert reporter.report_running("training", metrics=METRICS, step=1)
    assert [request.method for request in probe.requests] == ["PUT"]
    assert reporter.fetch_current_metrics() == POINTS


def test_the_first_report_of_a_task_has_empty_losses(probe: Probe, reporter: JobsServiceProgressReporter) -> None:
    assert reporter.report_running("compiling_config")
    stored = probe.stored()
    assert stored is not None
    assert stored["status_details"] == {"phase": "compiling_config", "metrics": {"train_loss": [], "val_loss": []}}


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"metrics": None},
        {"metrics": "nonsense"},
        {
            "metrics": {
                "train_loss": "nonsense",
                "val_loss": [1, None, {"step": "x"}, {"step": 1, "epoch": 1, "value": None}],
            }
        },
    ],
    ids=["empty", "null", "text", "malformed"],
)
def test_a_malformed_blob_is_nothing(
    probe: Probe, reporter: JobsServiceProgressReporter, details: dict[str, Any]
) -> None:
    probe.preset(details=details)
    assert not any(reporter.fetch_current_metrics().values())
    assert reporter.report_completed()


@pytest.mark.parametrize(
    "fault",
    [
        Fault("answer", 500, methods=("GET",)),
        Fault("answer", 403, methods=("GET",)),
        Fault("drop", methods=("GET",)),
        Fault("garbage", methods=("GET",)),
    ],
    ids=["500", "403", "drop", "garbage"],
)
def test_after_a_failed_read_nothing_is_overwritten(
    probe: Probe, reporter: JobsServiceProgressReporter, fault: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    preset(probe)
    probe.faults.arm(fault)
    with caplog.at_level(logging.ERROR):
        assert reporter.report_completed() is False
    assert "PUT" not in {request.method for request in probe.requests}
    assert "'completed' of the task was not delivered" in caplog.text
    probe.faults.clear()
    assert reporter.report_completed()
    assert reporter.fetch_current_metrics() == POINTS


@pytest.mark.parametrize("body", ["null", "[]", '"busy"'])
def test_a_read_that_answers_no_object_is_a_failed_one(body: str) -> None:
    methods: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        methods.append(request.method)
        return httpx.Response(200, text=body)

    url = "http://jobs/apis/jobs/v2/workspaces/w/jobs/j/steps/s/tasks/t"
    reporter = JobsServiceProgressReporter(url, transport=httpx.MockTransport(answer), patience_s=0.1)
    assert reporter.report_completed() is False
    assert set(methods) == {"GET"}
    reporter.close()


def test_a_service_that_comes_back_in_time_gets_the_report(probe: Probe) -> None:
    preset(probe)
    probe.faults.arm(Fault("answer", 503, times=1), Fault("drop", methods=("PUT",), times=1))
    reporter = JobsServiceProgressReporter(probe.task_url(), patience_s=10.0)
    assert reporter.report_error("failed")
    reporter.close()
    stored = probe.stored()
    assert stored is not None
    assert (stored["status"], stored["error_details"]) == ("error", {"message": "failed"})


def test_a_refused_port_is_a_failed_read() -> None:
    with Probe() as probe:
        url = probe.task_url()
    reporter = JobsServiceProgressReporter(url, patience_s=0.05)
    with pytest.raises(ServiceUnavailableError, match="ConnectError"):
        reporter.fetch_current_metrics()
    reporter.close()


def test_the_token_and_the_transport_are_the_callers_own() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(404 if request.method == "GET" else 200)

    url = "http://service/apis/jobs/v2/workspaces/ws/jobs/j/steps/s/tasks/t"
    reporter = JobsServiceProgressReporter(url, transport=httpx.MockTransport(answer), token="secret")  # noqa: S106 - a test's
    assert reporter.report_completed()
    reporter.close()
    assert [request.headers["authorization"] for request in seen] == ["Bearer secret"] * 2


def test_details_that_are_no_json_are_reported_and_not_raised(
    probe: Probe, reporter: JobsServiceProgressReporter, caplog: pytest.LogCaptureFixture
) -> None:
    assert reporter.report_running("training", metrics=METRICS, oddity=object()) is False
    assert reporter.report_running("training", metrics=METRICS, oddity=float("nan")) is False
    assert probe.requests == ()
    assert "was not delivered" in caplog.text


def test_what_was_not_observed_is_left_out(probe: Probe, reporter: JobsServiceProgressReporter) -> None:
    assert reporter.report_running("training", metrics=METRICS, step=None, checkpoint_path=None)
    assert probe.requests[0].json["status_details"] == {"metrics": METRICS, "phase": "training"}
