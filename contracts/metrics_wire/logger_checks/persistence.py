"""Persistence: no report makes what is stored vanish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.bench import Bench
from contracts.metrics_wire.logger_checks.numbering import EACH_SERVICE
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.sides import logger
from contracts.metrics_wire.sources import fixed

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.check import Check
    from contracts.metrics_wire.cases import At
    from contracts.metrics_wire.protocols import LoggerAdapter

SCHEDULE = Schedule(max_steps=10, num_epochs=2, steps_per_epoch=5)


@logger.check(
    "MW-601",
    source=fixed(
        "report_training_start, report_epoch_end and report_checkpoint_saved omitted the series: they erased it"
    ),
    requires={"reports_to_service", "events"},
    examples=EACH_SERVICE,
)
def events_keep_the_series(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """The reports of a training start, an epoch's end and a saved checkpoint show their phase and keep every point.

    Why: if the job dies before the next train step, the curves are gone.

    Usual cause: a report that states only what it is about, to a service that replaces the rest.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(SCHEDULE)
        process.log_metrics({"loss": 0.5, "reward": 0.25}, 1, "train")
        process.log_metrics({"accuracy": 0.5}, 1, "validation")
        bench.settles(lambda: bool(bench.values("val_accuracy") and bench.values("train_loss")))
        events: dict[str, Callable[[], Any]] = {
            "epoch_end": lambda: process.epoch_end(1),
            "checkpoint_saved": lambda: process.checkpoint_saved(1, "/checkpoints/1"),
            "training": process.training_start,
        }
        for phase, event in events.items():
            event()
            if not bench.settles(lambda phase=phase: bench.details.get("phase") == phase):  # type: ignore[misc]  # bound at once
                raise check.fail("an event is not reported", got=bench.details, want=f"phase {phase}")
            if bench.vanished:
                raise check.fail("an event made stored points vanish", got=bench.vanished, want=[], event=phase)
        process.close()
        got = (bench.values("train_loss"), bench.values("train_reward"), bench.values("val_accuracy"))
        if bench.vanished or got != ({1: 0.5}, {1: 0.25}, {1: 0.5}):
            raise check.fail("an event lost points", got=got, want=({1: 0.5}, {1: 0.25}, {1: 0.5}))


@logger.check(
    "MW-602",
    source=fixed("report_running replaces status_details: reporting only the current step leaves no history"),
    requires={"reports_to_service"},
    examples=EACH_SERVICE,
)
def no_report_makes_a_point_vanish(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """From one report to the next no stored point vanishes, in no process of a run.

    Why: a chart that is read at that moment is empty, and so is the one of a job that dies then.

    Usual cause: a start that reports without what an earlier process has stored, or a step that reports alone.
    """
    with Bench(adapter, case.service) as bench:
        for first in (1, 4, 7):
            process = bench.process(SCHEDULE)
            process.log_hyperparams({"grpo": {"max_num_steps": 10}})
            for step in range(first, first + 3):
                process.log_metrics({"loss": step / 8}, step, "train")
                process.log_metrics({"accuracy": step / 16}, step, "validation")
                bench.has("val_accuracy", step)
                if bench.vanished:
                    raise check.fail("a report made stored points vanish", got=bench.vanished[:5], want=[], step=step)
            process.close()
        if bench.vanished:
            raise check.fail("a report made stored points vanish", got=bench.vanished[:5], want=[])


@logger.check(
    "MW-603",
    source=fixed("per-step reports carry their own series and skip the read: the hot path is unchanged"),
    requires={"reports_to_service"},
    examples=EACH_SERVICE,
)
def train_steps_do_not_read(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """Once a run is under way its train steps read nothing from the service.

    Why: the blob grows with the run, and a read for every step is what it weighs, once more for every step.

    Usual cause: a read before every update, in the one place that all of them go through.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=100))

        def reads_after(steps: range) -> int:
            for step in steps:
                process.log_metrics({"loss": 0.5}, step, "train")
                bench.has("train_loss", step)
            return sum(request.method == "GET" for request in bench.probe.requests)

        before, after = reads_after(range(1, 4)), reads_after(range(4, 9))
        if after > before:
            raise check.fail("train steps read", got=f"{after - before} reads for 5 steps", want="none")


@logger.check(
    "MW-604",
    source=fixed("a checkpoint report without a path must not blank the path of the last one"),
    requires={"reports_to_service", "events"},
    examples=EACH_SERVICE,
)
def a_missing_checkpoint_path_keeps_the_last(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """A checkpoint that is reported without a path leaves the last known path stored, and so does every step after it.

    Why: the path is what the job is resumed from.

    Usual cause: checkpoint_path set to None, or left out of a report to a service that replaces.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(SCHEDULE)
        process.checkpoint_saved(1, "/checkpoints/1")
        process.log_metrics({"loss": 0.5}, 2, "train")
        process.checkpoint_saved(2, None)
        bench.settles(lambda: bench.details.get("step") == 2)  # noqa: PLR2004 - reported above
        process.log_metrics({"loss": 0.5}, 3, "train")
        process.close()
        if bench.details.get("checkpoint_path") != "/checkpoints/1":
            got = bench.details.get("checkpoint_path")
            raise check.fail("the checkpoint's path is lost", got=got, want="/checkpoints/1")
