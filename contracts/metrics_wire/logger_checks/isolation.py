"""Isolation: what the service does is not the loop's affair."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.bench import Bench, logged_warnings
from contracts.metrics_wire.cases import At, Kind
from contracts.metrics_wire.logger_checks.numbering import EACH_SERVICE
from contracts.metrics_wire.probe import Fault
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.services import Service
from contracts.metrics_wire.sides import logger
from contracts.metrics_wire.sources import composite, fixed, service

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter

FAULTS = {
    "400": Fault("answer", 400),
    "401": Fault("answer", 401),
    "413": Fault("answer", 413),
    "422": Fault("answer", 422),
    "429": Fault("answer", 429),
    "500": Fault("answer", 500),
    "503": Fault("answer", 503),
    "garbage": Fault("garbage", methods=("GET",)),
    "dropped": Fault("drop"),
    "lost": Fault("lose"),
}

EACH_FAULT = (
    *(Kind(kind, list(Service)[index % 4]) for index, kind in enumerate(FAULTS)),
    Kind("refused"),
    Kind("refused", Service.APPEND),
)

#: Steps of a quick loop against a slow service.
QUICK_STEPS = 200
#: Seconds in which a slow service answers each request.
SLOW_S = 1.0
#: Seconds that the loop may be blocked over all of its quick steps. One request of the slow service alone takes as
#: long: whoever waits for a single one is beyond it, and a logger that waits for none needs milliseconds.
BLOCKED_BUDGET_S = SLOW_S
#: Seconds beyond the stated deadline in which close must be back: the clock of a busy machine.
DEADLINE_SLACK_S = 1.5


def _fail_from_now_on(bench: Bench, kind: str) -> None:
    if kind == "refused":
        bench.probe.die()
    else:
        bench.probe.faults.arm(FAULTS[kind])


def _recover(bench: Bench, kind: str) -> None:
    if kind == "refused":
        bench.probe.come_back()
    else:
        bench.probe.faults.clear()


def _under_way(bench: Bench, process: Any) -> None:
    """Log two steps, one after the other: what a logger does once, at its beginning, is done before the second."""
    for step in (1, 2):
        process.log_metrics({"loss": step / 8}, step, "train")
        bench.has("train_loss", step)
        bench.settles(lambda: bench.details.get("step") == step)  # noqa: B023 - it is waited for at once


@logger.check(
    "MW-701",
    source=fixed("a report is never worth the run: what fails is logged and made good by the next one"),
    requires={"reports_to_service"},
    examples=EACH_FAULT,
)
def a_failing_service_costs_nothing(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """A service that fails in mid-run raises nothing into the loop, stops no later report, and costs no point.

    Why: services are redeployed while runs of a week go on.

    Usual cause: an exception from the HTTP client, a thread that dies of it, or points that are dropped with a report.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=10), at_the_front=True)
        try:
            _under_way(bench, process)
            _fail_from_now_on(bench, case.kind)
            process.log_metrics({"loss": 0.375}, 3, "train")
            process.log_metrics({"accuracy": 0.5}, 3, "validation")
            bench.settles(lambda: len(bench.probe.requests) > _REQUESTS, seconds=0.3)
            process.log_metrics({"loss": 0.5}, 4, "train")
            _recover(bench, case.kind)
            process.log_metrics({"loss": 0.625}, 5, "train")
            process.close()
        except Exception as error:
            raise check.fail("a failing service raised into the loop", got=repr(error), want="no exception") from error
        got = (bench.values("train_loss"), bench.values("val_accuracy"))
        want = ({step: step / 8 for step in range(1, 6)}, {3: 0.5})
        if got != want or bench.vanished:
            raise check.fail("a failing service cost points", got=got, want=want, vanished=bench.vanished)


#: More requests than any logger makes in the short time for which the service fails.
_REQUESTS = 1000


@logger.check(
    "MW-702",
    source=fixed("a validation that was dropped left no log line saying so"),
    requires={"reports_to_service"},
    examples=(Kind("500"), Kind("dropped", Service.APPEND), Kind("413", Service.MERGE), Kind("refused")),
)
def a_failure_is_said(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """A report that the service did not take is said in the log, as a warning or worse.

    Why: an empty chart without a word costs a day.

    Usual cause: `except Exception: pass`.
    """
    with Bench(adapter, case.service) as bench, logged_warnings() as messages:
        process = bench.process(Schedule(max_steps=10), at_the_front=True)
        _fail_from_now_on(bench, case.kind)
        process.log_metrics({"loss": 0.5}, 1, "train")
        said = bench.settles(lambda: bool(messages))
        _recover(bench, case.kind)
        process.close()
        if not said:
            raise check.fail("a failure was silent", got=messages, want="a warning")


@logger.check(
    "MW-703",
    source=composite("log_metrics is called by the training thread, between two steps"),
    requires={"reports_to_service"},
    examples=(At(Service.REPLACE), At(Service.APPEND)),
)
def a_slow_service_does_not_block_the_loop(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """Against a service that takes a second for each answer the loop is blocked for less than one answer, in all.

    Why: every second of a step is a second of a thousand GPUs.

    Usual cause: a request from log_metrics, or a lock that is held during one.
    """
    with Bench(adapter, case.service) as bench:
        bench.probe.faults.arm(Fault("delay", seconds=SLOW_S))
        process = bench.process(Schedule(max_steps=QUICK_STEPS), at_the_front=True)
        blocked_s = 0.0
        for step in range(1, QUICK_STEPS + 1):
            metrics = {"loss": step / 8, "reward": step / 4}
            began = time.monotonic()
            process.log_metrics(metrics, step, "train")
            blocked_s += time.monotonic() - began
            if blocked_s > BLOCKED_BUDGET_S:
                blocked = f"{blocked_s:.2f} s after {step} of {QUICK_STEPS} steps"
                raise check.fail("a slow service blocks the loop", got=blocked, want=f"at most {BLOCKED_BUDGET_S} s")
        bench.probe.faults.clear()
        process.close()
        if len(bench.values("train_loss")) != QUICK_STEPS:
            got = len(bench.values("train_loss"))
            raise check.fail("a slow service costs points", got=got, want=QUICK_STEPS)


@logger.check(
    "MW-704",
    source=service("a task has one writer of its series; every rank of a run builds a logger"),
    requires={"reports_to_service"},
    examples=EACH_SERVICE,
)
def only_rank_0_reports(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """A process of another rank than 0 sends nothing at all.

    Why: eight ranks would overwrite one another, and a thousand would bring the service down.

    Usual cause: a gate at some of the reports only.
    """
    with Bench(adapter, case.service) as bench:
        _everything(bench.process(Schedule(max_steps=10), rank=3), adapter)
        if bench.probe.requests:
            raise check.fail("another rank reports", got=_said(bench), want=[])


@logger.check(
    "MW-705",
    source=service("a run outside of any job has a placeholder for a job id"),
    requires={"reports_to_service"},
    examples=EACH_SERVICE,
)
def a_placeholder_job_reports_nothing(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """A run whose job id is a placeholder sends nothing at all.

    Why: a run on somebody's own machine would create tasks in a job that does not exist.

    Usual cause: a placeholder that is only known by its name in one environment.
    """
    with Bench(adapter, case.service) as bench:
        _everything(bench.process(Schedule(max_steps=10), job=adapter.placeholder_job), adapter)
        if bench.probe.requests:
            raise check.fail("a placeholder job reports", got=_said(bench), want=[])


def _everything(process: Any, adapter: LoggerAdapter) -> None:
    process.log_hyperparams({})
    process.log_metrics({"accuracy": 0.5}, 0, "validation")
    process.log_metrics({"loss": 0.5}, 1, "train")
    if "events" in adapter.capabilities:
        process.training_start()
        process.epoch_end(1)
        process.checkpoint_saved(1, "/checkpoints/1")
    process.close()


def _said(bench: Bench) -> list[str]:
    return [f"{request.method} {request.path}" for request in bench.probe.requests]


@logger.check(
    "MW-706",
    source=fixed("close is called from a finally, while a cluster counts down to SIGKILL"),
    requires={"reports_to_service"},
    examples=(At(Service.APPEND),),
)
def close_keeps_its_deadline(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """With a service that does not answer, close is back within the stated deadline and says what it left.

    Why: a close that waits for a dead service is ended by SIGKILL, and the teardown behind it with it.

    Usual cause: a join without a timeout, or retries that are counted and not timed.
    """
    with Bench(adapter, case.service) as bench, logged_warnings() as messages:
        bench.probe.faults.arm(Fault("delay", seconds=adapter.close_deadline_s * 3))
        process = bench.process(Schedule(max_steps=10))
        process.log_metrics({"loss": 0.5}, 1, "train")
        began = time.monotonic()
        process.close()
        took_s = time.monotonic() - began
        bench.probe.faults.clear()
        if took_s > adapter.close_deadline_s + DEADLINE_SLACK_S:
            raise check.fail("close is late", got=f"{took_s:.1f} s", want=f"{adapter.close_deadline_s:g} s")
        if not messages:
            raise check.fail("close left something and did not say so", got=messages, want="a warning")


@logger.check(
    "MW-707",
    source=service("a body beyond the service's limit is answered 413"),
    requires={"reports_to_service"},
    examples=EACH_SERVICE,
)
def a_refused_payload_is_restored(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """A payload that the service refused once is restored by later reports, with every point of it.

    Why: what is dropped with one report is a hole in the curve for good.

    Usual cause: points that are forgotten once they were given to a request.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=10))
        _under_way(bench, process)
        # What carries the points is refused: the update beside an append holds none.
        appends = any(request.method == "POST" for request in bench.probe.requests)
        bench.probe.faults.arm(Fault("answer", 413, methods=("POST" if appends else "PUT",), times=1))
        process.log_metrics({"loss": 0.375}, 3, "train")
        bench.settles(lambda: any(request.status == 413 for request in bench.probe.requests))  # noqa: PLR2004 - the fault's
        process.log_metrics({"loss": 0.5}, 4, "train")
        process.close()
        got, want = bench.values("train_loss"), {step: step / 8 for step in range(1, 5)}
        if got != want:
            raise check.fail("a refused payload was not restored", got=got, want=want)
