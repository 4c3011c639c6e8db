"""Delivery: what a throttle withholds is there at the end, however often the end is announced."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire import strategies
from contracts.metrics_wire.bench import Bench, nothing_raised
from contracts.metrics_wire.cases import At, Throttled
from contracts.metrics_wire.composite import Composite
from contracts.metrics_wire.logger_checks.numbering import EACH_SERVICE
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.services import Service
from contracts.metrics_wire.sides import logger
from contracts.metrics_wire.sources import composite, fixed, service

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter


def closings() -> SearchStrategy[Throttled]:
    """Runs that are closed, or finished as the composite logger finishes them."""
    return strategies.throttled(("close", "finish"))


def logged(process: Any, case: Throttled) -> dict[str, dict[int, float]]:
    """Log the steps of ``case`` and, if it says so, a validation; what must be stored of it."""
    for step in range(1, case.steps + 1):
        process.log_metrics({"loss": step / 8}, step, "train")
    if case.validates:
        process.log_metrics({"accuracy": 0.5}, case.steps, "validation")
    return {
        "train_loss": {step: step / 8 for step in range(1, case.steps + 1)},
        "val_accuracy": {case.steps: 0.5} if case.validates else {},
    }


@logger.check(
    "MW-501",
    source=fixed("with `step % interval == 0` the last recorded loss of 23 steps at interval 10 was step 20's"),
    examples=(
        Throttled(steps=23),
        Throttled(Service.MERGE, steps=20, end="finish"),
        Throttled(Service.APPEND, steps=3),
        Throttled(Service.MERGE_APPEND, "dpo", steps=11, validates=False, end="finish"),
    ),
    cases=closings,
)
def a_throttled_run_ends_complete(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Throttled) -> None:
    """Once a run is closed or finished, its every train step and validation is stored, due for a report or not.

    Why: the last loss is the one that the chart prints as the result.

    Usual cause: a report only when step % interval == 0, and nothing that sends what it withheld.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=100, val_period=case.val_period), algorithm=case.algorithm)
        loggers = Composite()
        loggers.loggers.append(process)
        want = logged(process, case)
        if case.end == "finish":
            loggers.finish()
        else:
            process.close()
        got = {name: bench.values(name) for name in want}
        if got != want:
            raise check.fail("a closed run is not complete", got=got, want=want)


@logger.check(
    "MW-502",
    source=composite("teardown is dispatched as getattr(logger, 'finish', None); there is no close()"),
    examples=EACH_SERVICE,
)
def the_end_comes_once(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """Finish and close are one teardown: whatever is called after the first does not raise.

    Why: a driver closes, the composite finishes, the GPU monitor flushes afterwards, and the collector comes last.

    Usual cause: a closed client that raises.
    """
    with Bench(adapter, case.service) as bench, nothing_raised(check):
        _ended_and_called(bench)


@logger.check(
    "MW-505",
    source=service("a task that was reported as completed is not looked at again"),
    requires={"reports_to_service"},
    examples=EACH_SERVICE,
)
def the_end_is_the_end(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """Whatever is called after the end changes nothing of the task.

    Why: a late report of a GPU monitor sets a finished task back to training.

    Usual cause: a second flush that sends an old state, or a client that opens again.
    """
    with Bench(adapter, case.service) as bench:
        before = _ended_and_called(bench)
        if (after := bench.probe.stored()) != before:
            raise check.fail("a call after the end changed the task", got=after, want=before)


def _ended_and_called(bench: Bench) -> dict[str, Any] | None:
    """End a run, and then make every call; the task as it was at the end."""
    process = bench.process(Schedule(max_steps=10))
    process.log_metrics({"loss": 0.5}, 1, "train")
    process.finish()
    before, count = bench.probe.stored(), len(bench.probe.requests)
    process.close()
    process.finish()
    process.log_metrics({"loss": 9.0}, 2, "train")
    process.log_metrics({"accuracy": 9.0}, 2, "validation")
    process.log_metrics({"util": 9.0}, 500, "ray")
    process.log_hyperparams({})
    process.log_histogram([1.0], 2, "train/histogram")
    process.log_plot(object(), 2, "train/plot")
    process.close()
    bench.settles(lambda: len(bench.probe.requests) > count, seconds=0.05)
    return before


@logger.check(
    "MW-503",
    source=fixed("the flush ran only from __del__, at garbage collection or interpreter shutdown"),
    examples=EACH_SERVICE,
)
def a_forgotten_logger_does_not_raise(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """A logger that nobody closed is collected without an exception, while its service is gone too.

    Why: an exception in __del__ is printed among the run's own last words, and hides them.

    Usual cause: a flush in __del__ that uses what is torn down already, or that does not catch what it calls.
    """
    unraisable: list[Any] = []
    hook = sys.unraisablehook
    with Bench(adapter, case.service) as bench:
        process = adapter.start(bench.task_url, Schedule(max_steps=10).fields)
        process.log_metrics({"loss": 0.5}, 1, "train")
        if bench.has_service:
            bench.settles(lambda: bench.values("train_loss") == {1: 0.5})
        sys.unraisablehook = unraisable.append
        try:
            del process
            gc.collect()
        finally:
            sys.unraisablehook = hook
        if unraisable:
            error = unraisable[0].exc_value
            raise check.fail("collecting a logger raised", got=repr(error), want="no exception")


@logger.check(
    "MW-504",
    source=fixed("the train steps' throttle withheld validations as well"),
    examples=EACH_SERVICE,
)
def a_validation_is_not_throttled(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """A validation is reported when it is logged, however far the next report of a train step is.

    Why: a validation every 100 steps would be shown 100 steps late, and the last one never.

    Usual cause: one throttle for everything.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=100_000, val_period=10_000))
        process.log_metrics({"loss": 0.5}, 1, "train")
        process.log_metrics({"accuracy": 0.5}, 1, "validation")
        if not bench.settles(lambda: bench.values("val_accuracy") == {1: 0.5}, seconds=5.0):
            raise check.fail("a validation waits for a train step", got=bench.series, want="val_accuracy at 1")
        process.log_metrics({"accuracy": 0.75}, 2, "validation")
        if not bench.settles(lambda: bench.values("val_accuracy") == {1: 0.5, 2: 0.75}, seconds=5.0):
            raise check.fail("a second validation waits", got=bench.values("val_accuracy"), want={1: 0.5, 2: 0.75})
