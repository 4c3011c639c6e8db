"""Resuming: a new process continues what is stored, and knows nothing stored from not read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.metrics_wire import strategies
from contracts.metrics_wire.bench import Bench
from contracts.metrics_wire.cases import Kind, Resumed
from contracts.metrics_wire.probe import Fault
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.services import Service
from contracts.metrics_wire.sides import logger
from contracts.metrics_wire.sources import fixed, loops, service

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter

SCHEDULE = Schedule(max_steps=50, num_epochs=2, steps_per_epoch=25)


@logger.check(
    "MW-611",
    source=loops("a resumed run starts at its last checkpoint and logs the steps after it again"),
    requires={"reports_to_service"},
    examples=(
        *(Resumed(each, ((1, 5), (5, 7))) for each in Service),
        Resumed(Service.REPLACE, ((1, 4), (5, 6), (4, 8))),
        Resumed(Service.APPEND, ((1, 10), (3, 4))),
    ),
    cases=strategies.resumes,
)
def a_resumed_process_continues_the_curves(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Resumed) -> None:
    """Every process continues the curves: one point a step, ascending, and a step logged again has its new value.

    Why: a chart keys a curve by step and prints its last element as the result.

    Usual cause: series that begin empty in each process, points appended without looking, or a first value that wins.
    """
    want: dict[int, float] = {}
    with Bench(adapter, case.service) as bench:
        for index, (first, last) in enumerate(case.spans):
            process = bench.process(SCHEDULE)
            process.log_hyperparams({})
            for step in range(first, last + 1):
                want[step] = index + step / 64
                process.log_metrics({"loss": want[step]}, step, "train")
            process.close()
        points = bench.series.get("train_loss", [])
        got = [(point["step"], point["value"]) for point in points]
        if got != sorted(want.items()):
            raise check.fail("the curve is not continued", got=got, want=sorted(want.items()))


NOTHING: dict[str, dict[str, Any]] = {
    "empty task": {},
    "empty details": {"details": {}},
    "null metrics": {"details": {"metrics": None}},
    "text": {"details": {"metrics": "nonsense"}},
    "list": {"details": {"metrics": [1, 2]}},
    "malformed series": {"details": {"metrics": {"train_loss": "x", "val_loss": {"a": 1}}}},
    "malformed points": {
        "details": {"metrics": {"train_loss": [None, 1, {"step": "a"}, {"value": 1}], "val_loss": []}}
    },
    "null value": {"details": {"metrics": {"train_loss": [{"step": 1, "epoch": 1, "value": None}], "val_loss": []}}},
}


@logger.check(
    "MW-612",
    source=service("a task that nobody wrote is a 404; other writers have left blobs of other shapes"),
    requires={"reports_to_service"},
    examples=(Kind("404"), *(Kind(kind, list(Service)[index % 4]) for index, kind in enumerate(NOTHING))),
)
def nothing_stored_is_no_obstacle(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """A task that is missing, empty or malformed counts as nothing stored: the run reports as usual.

    Why: otherwise one bad write, by whomever, ends the reports of a job for good.

    Usual cause: a blob taken for what it should be, and an exception in the thread that reports.
    """
    with Bench(adapter, case.service) as bench:
        if case.kind in NOTHING:
            bench.probe.preset(**NOTHING[case.kind])
        process = bench.process(SCHEDULE)
        process.log_hyperparams({})
        process.log_metrics({"loss": 0.5}, 2, "train")
        process.log_metrics({"accuracy": 0.25}, 2, "validation")
        process.close()
        got = (bench.values("train_loss").get(2), bench.values("val_accuracy").get(2))
        if got != (0.5, 0.25):
            raise check.fail("a blob of another shape stopped the reports", got=bench.probe.stored(), want=(0.5, 0.25))


READ_FAULTS = {
    "500": Fault("answer", 500, methods=("GET",)),
    "503": Fault("answer", 503, methods=("GET",)),
    "dropped": Fault("drop", methods=("GET",)),
}


@logger.check(
    "MW-613",
    source=fixed("the server is the source of truth for the series: that is how a resume is seeded"),
    requires={"reports_to_service"},
    examples=(
        Kind("500"),
        Kind("503", Service.MERGE),
        Kind("dropped", Service.APPEND),
        Kind("dropped"),
        Kind("500", Service.MERGE_APPEND),
    ),
)
def a_failed_read_is_not_nothing(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """After a failed read nothing that is stored is overwritten; the read is tried again, and then both are there.

    Why: a service that is away for a second when a job resumes would cost the job its history.

    Usual cause: `except: return {}`, which makes "could not read" the same as "nothing there".
    """
    metrics = {
        "train_loss": [{"step": step, "epoch": 1, "value": step / 8} for step in (1, 2, 3)],
        "val_loss": [],
        "train_reward": [{"step": 3, "epoch": 1, "value": 1.5}],
    }
    with Bench(adapter, case.service) as bench:
        bench.probe.preset(status="active", details={"phase": "training", "metrics": metrics})
        bench.probe.faults.arm(READ_FAULTS[case.kind])
        process = bench.process(SCHEDULE)
        process.log_hyperparams({})
        process.log_metrics({"loss": 0.5}, 4, "train")
        bench.settles(lambda: bool(bench.vanished), seconds=0.5)
        if bench.vanished:
            raise check.fail("after a failed read stored points were overwritten", got=bench.vanished, want=[])
        bench.probe.faults.clear()
        process.log_metrics({"loss": 0.625}, 5, "train")
        process.close()
        got = (bench.values("train_loss"), bench.values("train_reward"))
        want = ({1: 0.125, 2: 0.25, 3: 0.375, 4: 0.5, 5: 0.625}, {3: 1.5})
        if got != want:
            raise check.fail("the curves were not continued after a failed read", got=got, want=want)
