"""Naming: which series an observation belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.metrics_wire import strategies
from contracts.metrics_wire.bench import Bench, nothing_raised
from contracts.metrics_wire.cases import At, Kind, Sets
from contracts.metrics_wire.logger_checks.numbering import EACH_SERVICE
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.services import Service
from contracts.metrics_wire.sides import logger
from contracts.metrics_wire.sources import fixed, loops, service

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter

SCHEDULE = Schedule(max_steps=10)
FIELDS = (
    "step",
    "epoch",
    "phase",
    "metrics",
    "max_steps",
    "num_epochs",
    "percentage_done",
    "checkpoint_path",
    "message",
    "backend",
    "train_loss",
)


@logger.check(
    "MW-301",
    source=loops("SFT sends one key that is already called val_loss"),
    requires={"reports_to_service"},
    examples=EACH_SERVICE,
)
def a_phase_is_not_prefixed_twice(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """A name that already carries its phase is the name of its series; every other one gets the phase before it.

    Why: the chart looks for val_loss, and val_val_loss is a curve that nobody sees.

    Usual cause: the phase put before every name, or before those of a list.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(SCHEDULE)
        process.log_metrics({"val_loss": 0.5}, 0, "validation")
        process.log_metrics({"train_lr": 0.25, "val_loss": 0.75}, 1, "train")
        process.close()
        names = ("val_loss", "val_val_loss", "train_lr", "train_train_lr", "train_val_loss")
        got = {name: bench.values(name) for name in names}
        want = {"val_loss": {0: 0.5}, "train_lr": {1: 0.25}, "train_val_loss": {1: 0.75}}
        if got != {name: want.get(name, {}) for name in names}:
            raise check.fail("a name does not carry its phase once", got=got, want=want)


@logger.check(
    "MW-302",
    source=fixed("extra metrics are splatted first: none can replace the series or the step's own loss"),
    requires={"reports_to_service"},
    examples=tuple(Kind(name, list(Service)[index % 4]) for index, name in enumerate(FIELDS)),
)
def no_metric_reaches_a_field(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """A metric that is called as a field of the report is does not become that field.

    Why: a metric called `metrics` or `step` would take the curves or the progress with it.

    Usual cause: metrics merged into the report after its fields, or under their bare names.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(SCHEDULE)
        process.log_metrics({"loss": 0.5, case.kind: 77}, 3, "train")
        process.close()
        details = bench.details
        got = {name: details.get(name) for name in ("step", "epoch", "phase", "max_steps", "percentage_done")}
        want = {"step": 3, "epoch": 1, "phase": "training", "max_steps": 10, "percentage_done": 30}
        if got != want or details.get(case.kind) == 77:  # noqa: PLR2004 - the value logged above
            raise check.fail("a metric became a field of the report", got=details, want=want, metric=case.kind)
        if bench.values("train_loss") != {3: 0.5}:
            raise check.fail("a metric took the loss's place", got=bench.values("train_loss"), want={3: 0.5})


@logger.check(
    "MW-303",
    source=loops("train and validation report metrics of the same names at the same step"),
    examples=EACH_SERVICE,
)
def phases_do_not_share_a_series(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """A train metric and a validation metric of one name are two series.

    Why: one curve of two phases zigzags between them.

    Usual cause: series keyed by the bare name.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(SCHEDULE)
        process.log_metrics({"accuracy": 0.5, "loss": 0.25}, 2, "validation")
        process.log_metrics({"accuracy": 0.75, "loss": 1.5}, 2, "train")
        process.close()
        got = {name: bench.values(name) for name in ("train_accuracy", "val_accuracy", "train_loss", "val_loss")}
        want = {
            "train_accuracy": {2: 0.75},
            "val_accuracy": {2: 0.5},
            "train_loss": {2: 1.5},
            "val_loss": {2: 0.25},
        }
        if got != want:
            raise check.fail("two phases are not kept apart", got=got, want=want)


@logger.check(
    "MW-304",
    source=loops("DPO and RM validate several sets, each under validation-<set>"),
    examples=(
        Sets(("HelpSteer3", "held_out"), ("loss", "accuracy")),
        Sets(("a", "a_b"), ("b_c", "c")),
        Sets(("a/b", "a"), ("c", "b/c")),
        Sets(("first", "a"), ("loss", "a/loss", "a_loss", "@a/loss")),
        Sets(("first", "loss"), ("loss", "loss/loss", "loss_loss")),
    ),
    cases=strategies.validation_sets,
)
def validation_sets_do_not_share_a_series(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Sets) -> None:
    """Every metric of every validation set is a series of its own; on the wire the first set's have the bare names.

    Why: two sets in one series are two points a step, and the last set hides the others.

    Usual cause: the set's name dropped, or joined to the metric's by a letter that occurs in either.
    """
    values = {
        (each, name): 1.5 + index * len(case.names) + at
        for index, each in enumerate(case.sets)
        for at, name in enumerate(case.names)
    }
    with Bench(adapter, Service.REPLACE) as bench:
        if not bench.has_service and any("/" in each for each in case.sets):
            # There the loop's own `<prefix>/<name>` is the name, and what joins ambiguously is the loop's.
            return
        process = bench.process(SCHEDULE)
        with nothing_raised(check):
            for each in case.sets:
                process.log_metrics({name: values[each, name] for name in case.names}, 2, f"validation-{each}")
            process.close()
        series = {name: [point["value"] for point in points] for name, points in bench.series.items() if points}
        if sorted(series.values()) != sorted([value] for value in values.values()):
            raise check.fail("validation sets are not kept apart", got=series, want=sorted(values.values()))
        bare = [name for name in case.names if bench.has_service and not name.startswith(("val_", "@"))]
        got = {name: bench.values(f"val_{name}") for name in bare}
        want = {name: {2: values[case.sets[0], name]} for name in bare}
        if got != want:
            raise check.fail("the first set has not the bare names", got=got, want=want)


@logger.check(
    "MW-305",
    source=loops("durations come under timing/train and timing/validation, after the step they belong to"),
    examples=EACH_SERVICE,
)
def timings_are_kept(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """Durations are kept as train_timing/<name> and val_timing/<name>, at the step they belong to.

    Why: a run that slows down is found by them, and they must not be taken for metrics of the same name.

    Usual cause: every prefix but two dropped, or a timing that counts as a step of its own.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(SCHEDULE)
        process.log_metrics({"accuracy": 0.5}, 1, "validation")
        process.log_metrics({"total": 3.5}, 1, "timing/validation")
        process.log_metrics({"loss": 0.5, "total": 1}, 1, "train")
        process.log_metrics({"total": 2.5, "idle/validation": 0.125}, 1, "timing/train", None, True)  # noqa: FBT003 - NeMo-RL's interface
        process.close()
        names = ("train_timing/total", "train_timing/idle/validation", "val_timing/total", "train_total")
        got = [bench.values(name) for name in names]
        want = [{1: 2.5}, {1: 0.125}, {1: 3.5}, {1: 1}]
        if got != want:
            raise check.fail("durations are not kept", got=got, want=want)


@logger.check(
    "MW-306",
    source=loops("a GPU monitor logs under ray, from another thread, with seconds for a step"),
    requires={"reports_to_service"},
    examples=tuple(
        Kind(prefix, list(Service)[index % 4])
        for index, prefix in enumerate(("ray", "performance", "refit", "", "timing/setup", "timing/train"))
    ),
)
def other_prefixes_move_nothing(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """A prefix that is neither train nor validation never moves the step, the epoch or the percentage.

    Why: 500 seconds after the start a run of 10 steps would be done.

    Usual cause: progress taken from whatever was logged last.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=10, num_epochs=5, steps_per_epoch=2))
        process.log_metrics({"util": 97.0}, 500, case.kind, "ray/ray_step")
        process.log_metrics({"loss": 0.5}, 1, "train")
        process.log_metrics({"util": 98.0}, 510, case.kind, "ray/ray_step")
        process.close()
        got = {name: bench.details.get(name) for name in ("step", "epoch", "percentage_done")}
        if got != {"step": 1, "epoch": 1, "percentage_done": 10}:
            want = {"step": 1, "epoch": 1, "percentage_done": 10}
            raise check.fail("another prefix moved the progress", got=got, want=want, prefix=case.kind)
        train = {step for name in bench.series if not name.startswith("train_timing/") for step in bench.values(name)}
        if train != {1}:
            raise check.fail("another prefix's step is among the train steps", got=sorted(train), want=[1])


@logger.check(
    "MW-307",
    source=service("a chart reads train_loss and val_loss without asking whether they are there"),
    requires={"reports_to_service"},
    examples=EACH_SERVICE,
)
def the_losses_are_always_there(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """train_loss and val_loss are always present, empty if nothing was observed.

    Why: GRPO's validation has no loss, and the chart of such a run must not crash.

    Usual cause: series that are created with their first point.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(SCHEDULE)
        process.log_metrics({"accuracy": 0.5}, 0, "validation")
        process.log_metrics({"reward": 0.5}, 1, "train")
        process.close()
        got = {name: bench.series.get(name) for name in ("train_loss", "val_loss")}
        if got != {"train_loss": [], "val_loss": []}:
            raise check.fail("a loss series is missing", got=got, want={"train_loss": [], "val_loss": []})
