"""How reports reach the service: appended, as whole series, within the budget, and never over what is not known."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

from contracts.metrics_wire.probe import Fault, Probe, Recorded, Semantics
from contracts.metrics_wire.waiting import holds_within
from impl.metrics_wire.client import JobsClient, ServiceError
from impl.metrics_wire.delivery import Delivery
from impl.metrics_wire.schedule import for_schedule
from impl.metrics_wire.state import RunState
from impl.metrics_wire.task import TaskAddress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from impl.metrics_wire.logger import NemoRLLogger

NAMES = [f"train_metric_{index}" for index in range(14)]


class Run:
    """A delivery that a test drives step by step, without a thread."""

    def __init__(self, probe: Probe) -> None:
        self.client = JobsClient(TaskAddress.parse(probe.task_url()), timeout_s=5.0)
        self.state = RunState(for_schedule(1000, 1, 0))
        self.delivery = Delivery(self.client, self.state)

    def steps(self, *steps: int) -> None:
        for step in steps:
            self.state.series.add(NAMES, step, 1, [step / 7] * len(NAMES))
            self.state.train(step, dict.fromkeys(NAMES, step / 7))
            self.state.train_complete()

    def deliver(self, *, urgent: bool = False, final: bool = False) -> bool:
        return self.delivery.deliver(urgent=urgent, final=final, patience_s=0.01)


@pytest.fixture
def run_of() -> Iterator[Callable[[Probe], Run]]:
    runs: list[Run] = []

    def build(probe: Probe) -> Run:
        runs.append(Run(probe))
        return runs[-1]

    yield build
    for run in runs:
        run.client.close()


def stored_steps(probe: Probe, name: str = NAMES[0]) -> list[int]:
    stored = probe.stored()
    assert stored is not None
    return [point["step"] for point in stored["status_details"]["metrics"][name]]


def bodies(probe: Probe) -> int:
    return sum(len(request.body) for request in probe.requests)


def sent(requests: tuple[Recorded, ...]) -> list[str]:
    return [request.method for request in requests]


@pytest.mark.parametrize("status", [400, 409, 422])
def test_an_append_that_is_refused_keeps_no_later_report_back(
    appending: Probe, run_of: Callable[[Probe], Run], status: int
) -> None:
    run = run_of(appending)
    run.steps(1)
    assert run.deliver()
    appending.faults.arm(Fault("answer", status, methods=("POST",)))
    run.steps(2)
    assert run.deliver()
    run.steps(3)
    assert run.deliver(final=True)
    assert stored_steps(appending) == [1, 2, 3]
    stored = appending.stored()
    assert stored is not None
    assert stored["status_details"]["step"] == 3


def test_points_are_appended_once(appending: Probe, run_of: Callable[[Probe], Run]) -> None:
    run = run_of(appending)
    run.steps(1)
    assert run.deliver()
    run.steps(2, 3)
    assert run.deliver()
    assert sent(appending.requests) == ["GET", "PUT", "POST", "PUT", "GET", "POST", "PUT"]
    last = appending.requests[5].json["metrics"]
    assert [point["step"] for point in last[NAMES[0]]] == [2, 3]
    assert "metrics" not in appending.requests[-1].json["status_details"]
    assert stored_steps(appending) == [1, 2, 3]


def test_without_an_append_whole_series_are_sent(replacing: Probe, run_of: Callable[[Probe], Run]) -> None:
    run = run_of(replacing)
    run.steps(1)
    run.deliver()
    run.steps(2)
    run.deliver()
    assert sent(replacing.requests) == ["GET", "PUT", "POST", "PUT", "PUT"]
    assert stored_steps(replacing) == [1, 2]


def test_a_service_that_drops_what_was_appended_gets_it_back_at_once(
    run_of: Callable[[Probe], Run], caplog: pytest.LogCaptureFixture
) -> None:
    with Probe(Semantics.REPLACE, append=True, keeps_appended=False) as probe:
        run = run_of(probe)
        run.steps(1)
        assert run.deliver()
        assert stored_steps(probe) == [1]
        run.steps(2)
        assert run.deliver()
        assert stored_steps(probe) == [1, 2]
    assert "does not keep what it appends" in caplog.text


def test_a_process_that_takes_over_appends_what_was_written_whole(
    appending: Probe, run_of: Callable[[Probe], Run]
) -> None:
    metrics = {name: [{"step": 1, "epoch": 1, "value": 0.5}] for name in (*NAMES, "train_loss", "val_loss")}
    appending.preset(details={"metrics": metrics})
    run = run_of(appending)
    assert run.deliver()
    run.steps(2)
    assert run.deliver()
    assert stored_steps(appending) == [1, 2]
    assert stored_steps(appending, "val_loss") == [1]


def test_a_route_that_vanishes_is_replaced_by_whole_series(appending: Probe, run_of: Callable[[Probe], Run]) -> None:
    run = run_of(appending)
    run.steps(1)
    run.deliver()
    appending.faults.arm(Fault("answer", 404, methods=("POST",)))
    run.steps(2)
    assert run.deliver()
    assert stored_steps(appending) == [1, 2]


def test_an_append_that_is_too_large_is_split(run_of: Callable[[Probe], Run]) -> None:
    with Probe(append=True, max_body=4000) as probe:
        run = run_of(probe)
        run.steps(1)
        run.deliver()
        run.steps(*range(2, 60))
        assert run.deliver()
        assert stored_steps(probe) == list(range(1, 60))
        assert {request.status for request in probe.requests if request.method == "POST"} == {200, 413}


@pytest.mark.parametrize(
    "fault", [Fault("answer", 500), Fault("drop"), Fault("garbage")], ids=["500", "drop", "garbage"]
)
def test_nothing_is_written_before_the_service_has_told_what_it_has(
    probe: Probe, run_of: Callable[[Probe], Run], fault: Fault
) -> None:
    probe.preset(details={"metrics": {"train_loss": [{"step": 1, "epoch": 1, "value": 0.5}], "val_loss": []}})
    probe.faults.arm(fault)
    run = run_of(probe)
    run.steps(2)
    with pytest.raises(ServiceError):
        run.deliver(final=True)
    assert set(sent(probe.requests)) == {"GET"}
    probe.faults.clear()
    assert run.deliver()
    assert stored_steps(probe, "train_loss") == [1]
    assert stored_steps(probe) == [2]


@pytest.mark.parametrize("kind", ["drop", "lose"])
@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_request_without_an_answer_loses_no_point(
    probe: Probe, run_of: Callable[[Probe], Run], kind: Any, method: str
) -> None:
    run = run_of(probe)
    run.steps(1)
    run.deliver()
    for step in range(2, 6):
        probe.faults.arm(Fault(kind, methods=(method,), times=1))
        run.steps(step)
        try:
            run.deliver(final=True)
        except ServiceError:
            assert run.deliver(final=True)
        probe.faults.clear()
        assert stored_steps(probe) == list(range(1, step + 1))


@pytest.mark.parametrize("validate_every", [None, 1], ids=["train only", "validation at every step"])
def test_whole_series_cost_at_most_twelve_times_the_last(
    replacing: Probe, run_of: Callable[[Probe], Run], validate_every: int | None
) -> None:
    run = run_of(replacing)
    for step in range(1, 401):
        run.steps(step)
        run.deliver(urgent=validate_every is not None)
    run.deliver(final=True)
    final_blob = len(json.dumps(replacing.stored()["status_details"], separators=(",", ":")))  # type: ignore[index]  # stored
    assert stored_steps(replacing) == list(range(1, 401))
    assert bodies(replacing) <= 12 * final_blob


def test_appended_points_cost_a_constant_each(run_of: Callable[[Probe], Run]) -> None:
    costs = []
    for steps in (100, 200):
        with Probe(append=True) as probe:
            run = run_of(probe)
            for step in range(1, steps + 1):
                run.steps(step)
                run.deliver()
            costs.append(bodies(probe))
    assert costs[1] <= 2.1 * costs[0]


def test_at_no_moment_is_a_stored_point_missing(probe: Probe, start: Callable[..., NemoRLLogger]) -> None:
    seen: list[int] = []
    for process in range(3):
        logger = start(probe)
        logger.log_hyperparams({})
        for step in range(process * 4 + 1, process * 4 + 5):
            logger.log_metrics({"loss": float(step)}, step, "train")
            assert holds_within(20.0, lambda step=step: step in _loss_steps(probe))  # type: ignore[misc]  # bound at once
            seen.append(step)
            logger.callback.report_epoch_end(step)
            logger.callback.report_checkpoint_saved(step)
            assert set(seen) <= _loss_steps(probe)
        logger.close()
        assert set(seen) <= _loss_steps(probe)


def _loss_steps(probe: Probe) -> set[int]:
    stored = probe.stored() or {"status_details": {}}
    return {point["step"] for point in stored["status_details"].get("metrics", {}).get("train_loss", [])}


def test_a_dead_service_that_comes_back_gets_everything(
    probe: Probe, start: Callable[..., NemoRLLogger], caplog: pytest.LogCaptureFixture
) -> None:
    logger = start(probe)
    logger.log_metrics({"loss": 1.0}, 1, "train")
    assert holds_within(20.0, lambda: _loss_steps(probe) == {1})
    probe.die()
    with caplog.at_level(logging.WARNING):
        logger.log_metrics({"loss": 2.0}, 2, "train")
        assert holds_within(10.0, lambda: "was not delivered" in caplog.text)
    probe.come_back()
    logger.log_metrics({"loss": 3.0}, 3, "train")
    logger.close()
    assert _loss_steps(probe) == {1, 2, 3}
