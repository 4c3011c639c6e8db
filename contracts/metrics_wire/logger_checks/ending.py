"""The driver: however a run ends, it is closed, and in a process that is really killed too."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING, Any, NoReturn

from contracts.metrics_wire import strategies
from contracts.metrics_wire.bench import SETTLE_S, Bench
from contracts.metrics_wire.cases import At, Kind, Throttled
from contracts.metrics_wire.composite import Composite
from contracts.metrics_wire.logger_checks.delivery import logged
from contracts.metrics_wire.probe import Fault
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.services import Service
from contracts.metrics_wire.sides import logger
from contracts.metrics_wire.sources import fixed, loops

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis.strategies import SearchStrategy

    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter

ENDS: dict[str, type[BaseException] | None] = {
    "return": None,
    "exception": RuntimeError,
    "interrupt": KeyboardInterrupt,
    "exit": SystemExit,
}

#: A process starts an interpreter, imports the adapter and, at its end, flushes.
_PROCESS_S = 60.0


def endings() -> SearchStrategy[Throttled]:
    """Runs under a driver, that end in every way that an exception can tell."""
    return strategies.throttled(tuple(ENDS))


@logger.check(
    "MW-511",
    source=fixed("nothing called close(); now the drivers do, from a finally"),
    requires={"reports_to_service", "driver"},
    examples=(
        Throttled(steps=13, end="return"),
        Throttled(Service.MERGE, "dpo", steps=13, end="exception"),
        Throttled(Service.APPEND, steps=3, end="interrupt"),
        Throttled(Service.MERGE_APPEND, "dpo", steps=20, end="exit"),
    ),
    cases=endings,
)
def a_driver_closes_whatever_happens(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Throttled) -> None:
    """After a driver has returned or raised, every step is stored, and what it raised is what the training raised.

    Why: the run that fails is the one whose last steps matter.

    Usual cause: a close after the training instead of in a finally, or one that raises in the place of the training.
    """
    kind = ENDS[case.end]
    ended = kind("the training's own") if kind else None
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=100, val_period=case.val_period), algorithm=case.algorithm)
        want: dict[str, dict[int, float]] = {}

        def train() -> str:
            want.update(logged(process, case))
            if ended is not None:
                raise ended
            return "trained"

        result: object = None
        try:
            result = adapter.drive(case.algorithm, train, Composite(), process)
        except BaseException as error:
            if error is not ended:
                raise
            result = error
        if result != (ended or "trained"):
            raise check.fail("a driver changed how its run ended", got=repr(result), want=repr(ended or "trained"))
        got = {name: bench.values(name) for name in want}
        if got != want:
            raise check.fail("a driver's run is not complete", got=got, want=want)


@logger.check(
    "MW-512",
    source=fixed("close runs while the run's own exception travels, and must not take its place"),
    requires={"reports_to_service", "driver"},
    examples=(At(Service.REPLACE),),
)
def a_failing_close_does_not_mask_the_run(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """With a service that fails at the end, the training's own exception still comes out of the driver.

    Why: a stack that ends in an HTTP client sends everybody to the wrong system.

    Usual cause: a close that raises what the service did.
    """
    ended = ValueError("the training's own")
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=10))

        def train() -> NoReturn:
            process.log_metrics({"loss": 0.5}, 1, "train")
            bench.probe.faults.arm(Fault("drop"))
            process.log_metrics({"loss": 0.5}, 2, "train")
            raise ended

        try:
            adapter.drive("grpo", train, Composite(), process)
        except Exception as error:
            if error is not ended:
                raise check.fail("the run's own exception was masked", got=repr(error), want=repr(ended)) from error
        else:
            raise check.fail("the run's own exception was swallowed", got="no exception", want=repr(ended))


@logger.check(
    "MW-513",
    source=loops("a job is stopped by SIGTERM, by an interrupt, or by its own exception"),
    requires={"reports_to_service", "driver"},
    examples=(
        Kind("SIGTERM"),
        Kind("SIGINT", Service.APPEND),
        Kind("raise", Service.MERGE),
    ),
)
def a_stopped_process_has_stored_everything(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """A driver process that is stopped between two reports has stored every step that it logged.

    Why: a cluster stops a job with SIGTERM, and Python dies of it without running a finally.

    Usual cause: no handler for SIGTERM, or a report that only the interpreter's own end would send.
    """
    with Bench(adapter, case.service) as bench, _driver(bench, adapter, case.kind) as process:
        if case.kind.startswith("SIG"):
            process.send_signal(signal.Signals[case.kind])
        process.wait(_PROCESS_S)
        got = sorted(bench.values("train_loss"))
        if got != list(range(1, _STEPS + 1)):
            raise check.fail("a stopped process lost steps", got=got, want=list(range(1, _STEPS + 1)), by=case.kind)


@logger.check(
    "MW-514",
    source=loops("a node may die at any step: the run is resumed by another process from a checkpoint"),
    requires={"reports_to_service", "driver"},
    examples=(Kind("SIGKILL"), Kind("SIGKILL", Service.APPEND)),
)
def a_killed_process_keeps_what_was_acknowledged(
    check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind
) -> None:
    """After SIGKILL every step that was due is stored, and stays so when another process takes over.

    Why: nobody runs a line after SIGKILL, so what is due must have been sent before.

    Usual cause: reports that wait for the end of the run, or a new process that begins with empty series.
    """
    due = range(1, _STEPS // 10 * 10 + 1)
    with Bench(adapter, case.service) as bench:
        with _driver(bench, adapter, "wait") as process:
            bench.settles(lambda: set(due) <= set(bench.values("train_loss")), SETTLE_S)
            process.send_signal(signal.SIGKILL)
            process.wait(_PROCESS_S)
        if not set(due) <= set(bench.values("train_loss")):
            raise check.fail("steps were due and not sent", got=sorted(bench.values("train_loss")), want=list(due))
        before = bench.values("train_loss")
        successor = bench.process(Schedule(max_steps=100, val_period=100))
        successor.log_hyperparams({})
        successor.log_metrics({"loss": 9.0}, 11, "train")
        successor.close()
        got, want = bench.values("train_loss"), before | {11: 9.0}
        if got != want:
            raise check.fail("the successor lost what was stored", got=got, want=want)


_STEPS = 13


@contextmanager
def _driver(bench: Bench, adapter: LoggerAdapter, end: str) -> Iterator[subprocess.Popen[str]]:
    """A driver's process that has logged 13 steps, a report being due every tenth."""
    last = "wait" if end.startswith("SIG") else end
    calls: list[dict[str, Any]] = [
        {"call": "log_metrics", "metrics": {"loss": step / 8}, "step": step, "prefix": "train"}
        for step in range(1, _STEPS + 1)
    ]
    schedule = Schedule(max_steps=100, val_period=100)
    with tempfile.TemporaryDirectory() as folder:
        command = adapter.driver_command(
            bench.probe.task_url(), schedule.fields, [*calls, {"call": last}], Path(folder)
        )
        with _interruptible(), subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True) as process:  # noqa: S603 - the adapter's own command
            try:
                _wait_for(process, len(calls) + 1)
                yield process
            finally:
                process.kill()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let a child heed SIGINT although this process ignores it, as one that a shell runs in the background does."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _wait_for(process: subprocess.Popen[str], number: int) -> None:
    assert process.stdout is not None  # noqa: S101 - it was asked for
    for line in process.stdout:
        if line.strip() == str(number):
            return
    assert process.stderr is not None  # noqa: S101 - it was asked for
    raise RuntimeError(f"the driver ended before call {number}: {process.stderr.read()[-2000:]}")
