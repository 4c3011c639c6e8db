"""Numbering: steps, epochs, percentages and the interval of the reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.level import Level
from contracts.metrics_wire import strategies
from contracts.metrics_wire.arithmetic import epoch_of, percentage_of
from contracts.metrics_wire.bench import Bench, nothing_raised
from contracts.metrics_wire.cases import At, Kind, Planned, Run
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.services import Service
from contracts.metrics_wire.sides import logger
from contracts.metrics_wire.sources import fixed, loops, service

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter

EACH_SERVICE = tuple(At(each) for each in Service)


@logger.check(
    "MW-101",
    source=loops("an N-step run logs train steps 1 to N: the callers already count from 1"),
    examples=(*(Run(each) for each in Service), Run(steps=23, algorithm="dpo"), Run(first=11, steps=13)),
    cases=strategies.runs,
)
def caller_steps_are_kept(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Run) -> None:
    """Every train step is stored under the number that the loop gave it.

    Why: a renumbered axis shifts epoch and percentage, and two runs can no longer be compared.

    Usual cause: a logger that counts from 0 adds one to a step that the loop already counted from 1.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(case.schedule, algorithm=case.algorithm)
        for step in case.logged:
            process.log_metrics({"loss": step / 8}, step, "train")
        process.close()
        got, want = bench.values("train_loss"), {step: step / 8 for step in case.logged}
        if got != want:
            raise check.fail("train steps are not stored as they were logged", got=got, want=want)
        if bench.has_service and bench.details.get("step") != case.logged[-1]:
            raise check.fail(
                "the last report is not of the last step", got=bench.details.get("step"), want=case.logged[-1]
            )


@logger.check(
    "MW-102",
    source=loops("validate-at-start logs step 0 before training, the only step 0 there is"),
    examples=EACH_SERVICE,
)
def the_validation_before_training_is_at_step_0(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """The validation before training is stored at step 0, in epoch 1, even as the first call ever.

    Why: it is the point that every later one is compared with.

    Usual cause: a step of 0 taken for "no step", an epoch floored to 0, or a start that waits for the configuration.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=10, num_epochs=2, val_period=2, steps_per_epoch=5))
        process.log_metrics({"accuracy": 0.5}, 0, "validation")
        process.log_hyperparams({"grpo": {"max_num_steps": 10, "max_num_epochs": 2}})
        process.close()
        got = (bench.values("val_accuracy"), bench.epochs("val_accuracy"))
        want = ({0: 0.5}, {0: 1 if bench.has_service else None})
        if got != want:
            raise check.fail("the validation before training is misplaced", got=got, want=want)


@logger.check(
    "MW-103",
    source=fixed("epoch = (max(step, 1) - 1) // steps_per_epoch + 1, and a stated steps_per_epoch wins"),
    requires={"reports_to_service"},
    examples=(
        Planned(Schedule(6, 2, 2, 3), (1, 3, 4, 6)),
        Planned(Schedule(20, 2, 0, 10), (10, 11), takes_over_at=1),
        Planned(Schedule(10, 3, 0, 4), (1, 4, 5, 8, 9, 10)),
    ),
    cases=strategies.stated_schedules,
)
def the_epoch_follows_from_the_step(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Planned) -> None:
    """The epoch of a step follows from the step and the stated steps per epoch, whichever process logs it.

    Why: a chart that is cut by epochs shows a resumed run in the wrong one.

    Usual cause: an epoch counted from the first step of the process, from 0, or derived though it is stated.
    """
    got = _epochs(adapter, case)
    want = {step: epoch_of(step, case.schedule.steps_per_epoch or 1) for step in case.steps}
    if got != want:
        raise check.fail("a step lies in the wrong epoch", got=got, want=want)


@logger.check(
    "MW-104",
    source=fixed("both drivers derived the steps of an epoch, each by a formula of its own"),
    requires={"reports_to_service"},
    examples=(
        Planned(Schedule(6, 2, 2, None), (1, 3, 4, 6)),
        Planned(Schedule(7, 2, 0, None), (1, 4, 5, 7), takes_over_at=2),
        Planned(Schedule(10, 4, 0, None), (1, 10)),
    ),
    cases=strategies.derived_schedules,
)
def a_derived_epoch_stays_within_the_plan(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Planned) -> None:
    """Where the steps of an epoch are derived, every planned step lies in a planned epoch, the first in epoch 1.

    Why: "epoch 3 of 2" is shown to the user.

    Usual cause: max_steps // num_epochs, which puts the rest of an uneven division into an epoch too many.
    """
    got = _epochs(adapter, case)
    epochs = [got.get(step) for step in case.steps]
    last = case.schedule.num_epochs or 1
    if None in epochs or epochs[0] != 1 or sorted(map(int, epochs)) != epochs or epochs[-1] > last:  # type: ignore[arg-type, operator]  # no None is left
        raise check.fail("a derived epoch is out of the plan", got=got, want=f"ascending from 1, at most {last}")


def _epochs(adapter: LoggerAdapter, case: Planned) -> dict[int, int]:
    with Bench(adapter, Service.MERGE) as bench:
        for steps in filter(None, (case.steps[: case.takes_over_at], case.steps[case.takes_over_at :])):
            process = bench.process(case.schedule)
            for step in steps:
                process.log_metrics({"loss": 0.5}, step, "train")
            process.close()
        return bench.epochs("train_loss")


@logger.check(
    "MW-105",
    source=service("the status page prints percentage_done as it is"),
    requires={"reports_to_service"},
    examples=(
        Run(schedule=Schedule(max_steps=50), first=29, steps=1),
        Run(schedule=Schedule(max_steps=23), first=22, steps=1),
        Run(schedule=Schedule(max_steps=23), first=23, steps=1),
        Run(schedule=Schedule(max_steps=10), first=12, steps=1),
        Run(schedule=Schedule(max_steps=0), first=3, steps=1),
        Run(schedule=Schedule(max_steps=-1), first=3, steps=1),
    ),
    cases=strategies.runs,
)
def percentage_is_exact(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Run) -> None:
    """percentage_done is the whole percent in exact arithmetic, at most 100, and absent without a planned end.

    Why: a bar that reaches its end too early hides a run that hangs, and one above 100 is a bug report.

    Usual cause: int(step / max_steps * 100), where 29 of 50 is 57; or a step that was counted one too far.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(case.schedule, algorithm=case.algorithm)
        process.log_metrics({"loss": 0.5}, case.logged[-1], "train")
        process.close()
        got, want = bench.details.get("percentage_done"), percentage_of(case.logged[-1], case.schedule)
        if got != want or isinstance(got, float):
            raise check.fail("percentage_done is not exact", got=got, want=want)


@logger.check(
    "MW-106",
    source=loops("a step may come as a float where a loop divides, or as numpy's integer"),
    examples=(Kind("2.0"), Kind("numpy 2")),
)
def an_integral_step_is_that_integer(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """A step with an integral value is that integer, whatever its type.

    Why: an exception in the logger ends a run that costs thousands of GPU hours, and a dropped step is a hole.

    Usual cause: isinstance(step, int), or a store that takes Python's own integers only.
    """
    got = _after_odd_step(check, adapter, case)
    if got != {2: 0.25, 3: 0.5}:
        raise check.fail("an integral step is not that integer", got=got, want={2: 0.25, 3: 0.5}, step=case.kind)


@logger.check(
    "MW-107",
    source=fixed("for_schedule owns the interval, val_period // 10, for both algorithms"),
    requires={"reports_to_service"},
    examples=(Run(algorithm="grpo"), Run(algorithm="dpo"), Run(Service.APPEND, algorithm="dpo")),
)
def a_report_is_due_every_tenth_of_the_validation_period(
    check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Run
) -> None:
    """With a validation every 100 steps a report is due at step 10, under either algorithm.

    Why: two drivers with intervals of their own report the same run at different steps.

    Usual cause: an interval derived twice, or `+ 1` as a guard against a division by zero.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=1000, val_period=100), algorithm=case.algorithm)
        for step in range(1, 11):
            process.log_metrics({"loss": 0.5}, step, "train")
        if not bench.has("train_loss", 10, seconds=5.0):
            raise check.fail("no report at step 10", got=sorted(bench.values("train_loss")), want="steps 1 to 10")


@logger.check(
    "MW-108",
    level=Level.SHOULD,
    source=loops("a step that was computed wrong, or not at all, reaches the logger like any other"),
    examples=(Kind("1.5"), Kind("-1"), Kind("nan"), Kind("1e400"), Kind("None")),
)
def odd_steps_store_nothing(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """A step that is no number from 0 raises nothing and stores nothing.

    Why: 1.5 that is stored at 1 takes the place of step 1, and None at 0 that of the validation before training.

    Usual cause: int(step), range checks that raise, or a default for a step that is missing.
    """
    got = _after_odd_step(check, adapter, case)
    if got != {3: 0.5}:
        raise check.fail("an odd step is stored oddly", got=got, want={3: 0.5}, step=case.kind)


def _after_odd_step(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> dict[int, Any]:
    """The train losses after an odd step and step 3."""
    import numpy as np  # noqa: PLC0415 - the room is listed without it

    odd = {
        "2.0": 2.0,
        "numpy 2": np.int64(2),
        "1.5": 1.5,
        "-1": -1,
        "nan": float("nan"),
        "1e400": 10**400,
        "None": None,
    }[case.kind]
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=10))
        with nothing_raised(check, step=case.kind):
            process.log_metrics({"loss": 0.25}, odd, "train")
            process.log_metrics({"loss": 0.5}, 3, "train")
            process.close()
        return bench.values("train_loss")
