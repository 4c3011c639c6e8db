"""The runner: another process writes the last reports, and the curves stay."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.bench import Bench, logged_warnings
from contracts.metrics_wire.cases import Kind
from contracts.metrics_wire.probe import Fault
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.services import Service
from contracts.metrics_wire.sides import logger
from contracts.metrics_wire.sources import fixed, jobs

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter, Runner

FAILURE = "CUDA out of memory"
WRITES: dict[str, Callable[[Runner], object]] = {
    "processing_checkpoint": lambda runner: runner.report_running("processing_checkpoint"),
    "completed": lambda runner: runner.report_completed("Training completed"),
    "error": lambda runner: runner.report_error(FAILURE),
}
STATUSES = {"processing_checkpoint": "active", "completed": "completed", "error": "error"}
EACH_WRITE = tuple(Kind(kind, each) for kind in WRITES for each in Service)
EACH_END = tuple(Kind(kind, each) for kind in ("completed", "error") for each in Service)

#: Half of the series of so many steps are some KiB: a report without them fits into that many times over.
LONG_STEPS = 100


def _trained(bench: Bench) -> dict[str, Any]:
    process = bench.process(Schedule(max_steps=10, num_epochs=1))
    process.log_metrics({"accuracy": 0.5}, 0, "validation")
    for step in (1, 2, 3):
        process.log_metrics({"loss": step / 8, "reward": step / 4}, step, "train")
    process.close()
    return bench.series


@logger.check(
    "MW-621",
    source=fixed("the last three writes of any job come from the runner, which holds no series to send"),
    requires={"reports_to_service", "runner"},
    examples=EACH_WRITE,
)
def the_last_writes_keep_the_series(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """The runner's reports, before the training and after it, keep every stored point, and state what they say.

    Why: the chart was there while the job ran and empty the moment it stopped, most of all when it failed.

    Usual cause: an update without the series, from a process that never had them.
    """
    with Bench(adapter, case.service) as bench:
        runner = adapter.runner(bench.probe.task_url())
        try:
            runner.report_running("compiling_config")
            before = _trained(bench)
            WRITES[case.kind](runner)
            if bench.series != before or bench.vanished:
                raise check.fail("the runner's report lost points", got=bench.series, want=before, report=case.kind)
            if bench.status != STATUSES[case.kind]:
                raise check.fail("the status is wrong", got=bench.status, want=STATUSES[case.kind])
            if case.kind != "error" and bench.details.get("phase") != case.kind:
                raise check.fail("the phase is wrong", got=bench.details.get("phase"), want=case.kind)
        finally:
            runner.close()


@logger.check(
    "MW-622",
    source=fixed("only metrics is carried over: the rest of the blob is a snapshot of its moment"),
    requires={"reports_to_service", "runner"},
    examples=tuple(Kind(kind, each) for kind in WRITES for each in (Service.REPLACE, Service.APPEND)),
)
def only_the_series_are_carried_over(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """A runner's report to a service that replaces carries over the series and nothing else.

    Why: a completed task would go on to advertise a step in mid-training, and its learning rate.

    Usual cause: the stored details merged into the report as they are.
    """
    with Bench(adapter, case.service) as bench:
        _trained(bench)
        runner = adapter.runner(bench.probe.task_url())
        try:
            WRITES[case.kind](runner)
        finally:
            runner.close()
        fields = ("step", "epoch", "percentage_done", "train_loss", "train_reward", "val_accuracy")
        if left := {name: bench.details[name] for name in fields if name in bench.details}:
            raise check.fail("a finished task advertises its training", got=left, want={}, report=case.kind)


@logger.check(
    "MW-623",
    source=fixed("it costs one GET per update that omits metrics"),
    requires={"reports_to_service", "runner"},
    examples=tuple(Kind(kind) for kind in WRITES),
)
def an_update_reads_once(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """A runner's report reads the stored series at most once.

    Why: the blob of a long run is megabytes.

    Usual cause: one read to seed and another one to carry over.
    """
    with Bench(adapter, case.service) as bench:
        _trained(bench)
        before = sum(request.method == "GET" for request in bench.probe.requests)
        runner = adapter.runner(bench.probe.task_url())
        try:
            WRITES[case.kind](runner)
        finally:
            runner.close()
        reads = sum(request.method == "GET" for request in bench.probe.requests) - before
        if reads > 1:
            raise check.fail("a report reads more than once", got=reads, want="at most 1")


@logger.check(
    "MW-624",
    source=fixed("the partial curve is worth the most on the failure path"),
    requires={"reports_to_service", "runner"},
    examples=(Kind("drop"), Kind("answer", Service.APPEND), Kind("drop", Service.MERGE)),
)
def a_failed_read_stops_the_report(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """While a runner cannot read what is stored its report overwrites nothing; one that it retries in time arrives.

    Why: the service is the only place where the curves are left.

    Usual cause: a failed read that counts as an empty one.
    """
    with Bench(adapter, case.service) as bench:
        before = _trained(bench)
        fault: Any = case.kind
        bench.probe.faults.arm(Fault(fault, 503, methods=("GET",), times=2))
        runner = adapter.runner(bench.probe.task_url())
        try:
            runner.report_error(FAILURE)
        finally:
            runner.close()
        if bench.series != before or bench.vanished:
            raise check.fail("a report overwrote what could not be read", got=bench.series, want=before)


def _trained_beyond_the_limit(bench: Bench) -> dict[str, Any]:
    """A training whose series, as a whole, are twice of what the service takes from now on."""
    process = bench.process(Schedule(max_steps=LONG_STEPS, num_epochs=1))
    for step in range(1, LONG_STEPS + 1):
        process.log_metrics({"loss": 1 / step, "reward": step / 7, "kl": step / 9, "entropy": 3 / step}, step, "train")
    process.close()
    series = bench.series
    bench.probe.max_body = len(json.dumps(series, separators=(",", ":"))) // 2
    return series


def _is_stored(bench: Bench, kind: str) -> bool:
    """Whether what a last report says beside its status is stored: its phase, or why the task failed."""
    if kind == "error":
        return FAILURE in json.dumps(bench.probe.stored())
    return bool(bench.details.get("phase") == kind)


@logger.check(
    "MW-625",
    source=jobs("a body beyond the limit is answered 413 and changes nothing; an update keeps what it omits"),
    requires={"reports_to_service", "runner"},
    examples=EACH_END,
)
def the_last_status_needs_no_series(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """A last status arrives though the series are too large to go with it; they stay, the log says what is left out.

    Why: a job whose last report is refused for its size stays active for ever, the longest ones first.

    Usual cause: an update that always carries every series, or one that goes without them and leaves none behind.
    """
    with Bench(adapter, case.service) as bench, logged_warnings() as messages:
        runner = adapter.runner(bench.probe.task_url())
        try:
            runner.report_running("compiling_config")
            before = _trained_beyond_the_limit(bench)
            messages.clear()
            runner.report_running("processing_checkpoint")
            WRITES[case.kind](runner)
        finally:
            runner.close()
        facts: dict[str, Any] = {"report": case.kind, "max_body": bench.probe.max_body}
        if bench.status != STATUSES[case.kind]:
            raise check.fail("the last status is lost", got=bench.status, want=STATUSES[case.kind], **facts)
        if bench.series != before or bench.vanished:
            changed = sorted(name for name, points in before.items() if bench.series.get(name) != points)
            got, want = _sizes(bench.series), _sizes(before)
            facts |= {"changed": changed, "vanished": bench.vanished[:3]}
            raise check.fail("the stored series changed", got=got, want=want, **facts)
        if not (messages or _is_stored(bench, case.kind)):
            raise check.fail("what was left out is not said", got=bench.details, want="a warning", **facts)


def _sizes(series: dict[str, Any]) -> dict[str, int]:
    return {name: len(points) for name, points in series.items()}
