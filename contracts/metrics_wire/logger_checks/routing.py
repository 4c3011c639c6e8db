"""Routing: which calls make a report, and of what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.metrics_wire.bench import Bench
from contracts.metrics_wire.cases import At, Kind, Throttled
from contracts.metrics_wire.logger_checks.numbering import EACH_SERVICE
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.services import Service
from contracts.metrics_wire.sides import logger
from contracts.metrics_wire.sources import fixed, loops

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter


@logger.check(
    "MW-401",
    source=fixed("GRPO's validation dict is {accuracy, avg_length}; gating on a loss dropped every one of them"),
    examples=EACH_SERVICE,
)
def a_validation_without_a_loss_is_reported(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """A validation without a loss is stored, and its report has no val_loss, not even an earlier one.

    Why: it is the only validation that GRPO has.

    Usual cause: a branch that begins with `if "loss" in metrics`, or a loss that is made up where there is none.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=10))
        process.log_metrics({"accuracy": 0.5, "avg_length": 527.5}, 2, "validation")
        if bench.has_service and not bench.settles(lambda: bench.values("val_accuracy") == {2: 0.5}):
            raise check.fail("a validation without a loss is not reported", got=bench.series, want="val_accuracy at 2")
        if "val_loss" in bench.details or bench.values("val_loss"):
            raise check.fail("a loss was made up", got=bench.details, want="no val_loss")
        process.close()
        got = (bench.values("val_accuracy"), bench.values("val_avg_length"))
        if got != ({2: 0.5}, {2: 527.5}):
            raise check.fail("a metric is missing", got=got, want=({2: 0.5}, {2: 527.5}))


@logger.check(
    "MW-402",
    source=loops("synchronous GRPO and PPO log a rollout dict without loss under train, then the full dict"),
    examples=(
        Throttled(steps=3, val_period=0),
        Throttled(Service.MERGE, steps=12, val_period=100),
        Throttled(Service.APPEND, steps=10, val_period=20),
    ),
)
def a_rollout_does_not_displace_its_step(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Throttled) -> None:
    """The rollout dicts of a step and its full dict are one step: all of their metrics, and the last value wins.

    Why: half of a GRPO step's metrics are in either dict.

    Usual cause: a throttle that takes the first dict of a due step for its report, or a dict that replaces the other.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=50, val_period=case.val_period))
        for step in range(1, case.steps + 1):
            process.log_metrics({"total_turns": 100 + step, "retries": 1}, step, "train")
            process.log_metrics({"total_turns": 200 + step}, step, "train")
            process.log_metrics({"loss": step / 8, "reward": step / 4, "total_turns": 200 + step}, step, "train")
            process.log_metrics({"generation": 2.5}, step, "timing/train", None, True)  # noqa: FBT003 - NeMo-RL's interface
            process.log_metrics({"late": step}, step, "train")
        process.close()
        steps = range(1, case.steps + 1)
        want = {
            "train_total_turns": {step: 200 + step for step in steps},
            "train_retries": dict.fromkeys(steps, 1),
            "train_loss": {step: step / 8 for step in steps},
            "train_reward": {step: step / 4 for step in steps},
            "train_late": {step: step for step in steps},
        }
        got = {name: bench.values(name) if bench.has_service else bench.last_values(name) for name in want}
        if got != want:
            raise check.fail("the dicts of a step are not one step", got=got, want=want)


@logger.check(
    "MW-403",
    source=loops("the rollout dict is logged before the policy is trained, which is what runs out of memory"),
    examples=EACH_SERVICE,
)
def a_rollout_survives_its_step(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """The rollout metrics of a step that crashes before its own log are stored.

    Why: they are the only evidence of the step that failed.

    Usual cause: a rollout that waits in memory for the dict with the loss.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=10, val_period=50))
        process.log_metrics({"total_turns": 128}, 1, "train")
        process.log_metrics({"loss": 0.5}, 1, "train")
        process.log_metrics({"total_turns": 256}, 2, "train")
        process.close()
        got = (bench.values("train_total_turns"), bench.values("train_loss"))
        if got != ({1: 128, 2: 256}, {1: 0.5}):
            raise check.fail("the rollout of the last step is lost", got=got, want=({1: 128, 2: 256}, {1: 0.5}))


@logger.check(
    "MW-404",
    source=loops("PPO's critic warm-up steps have no loss at all, and a loss may be NaN"),
    examples=(
        Kind("none"),
        Kind("nan", Service.MERGE),
        Kind("inf", Service.APPEND),
        Kind("none", Service.MERGE_APPEND),
    ),
)
def a_step_without_a_loss_is_reported(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """A train dict without a finite loss reports everything else, and its step counts.

    Why: a warm-up of a hundred steps would show nothing, and a diverged loss would hide the rewards that tell why.

    Usual cause: the train branch gated on a loss.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=10))
        loss = {"none": {}, "nan": {"loss": float("nan")}, "inf": {"loss": float("inf")}}[case.kind]
        for step in (1, 2):
            process.log_metrics({**loss, "critic/loss": step / 2, "reward": step / 4}, step, "train")
            process.log_metrics({"generation": 2.5}, step, "timing/train")
        if bench.has_service:
            bench.has("train_reward", 2)
            reported = bench.settles(lambda: bench.details.get("step") == 2)  # noqa: PLR2004 - logged above
        else:
            process.close()
            reported = True
        got = (bench.values("train_critic/loss"), bench.values("train_reward"))
        if not reported or got != ({1: 0.5, 2: 1.0}, {1: 0.25, 2: 0.5}):
            want = ({1: 0.5, 2: 1.0}, {1: 0.25, 2: 0.5})
            raise check.fail("a step without a loss is not reported", got=got, want=want, details=bench.details)


@logger.check(
    "MW-405",
    source=loops("a run without a validation loader logs an empty dict under validation"),
    examples=EACH_SERVICE,
)
def an_empty_validation_is_none(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """An empty validation dict stores nothing.

    Why: a validation that never ran would appear in the progress.

    Usual cause: a report for every call under validation.
    """
    with Bench(adapter, case.service) as bench:
        process = bench.process(Schedule(max_steps=10))
        process.log_metrics({}, 0, "validation")
        process.log_metrics({}, 0, "timing/validation")
        process.log_metrics({"loss": 0.5}, 1, "train")
        process.close()
        phases = {
            (request.json or {}).get("status_details", {}).get("phase")
            for request in bench.probe.requests
            if request.method == "PUT"
        }
        stored = sorted(name for name in bench.series if name.startswith("val_") and bench.values(name))
        if stored or "validation" in phases:
            raise check.fail("an empty validation was reported", got=(stored, sorted(map(str, phases))), want="nothing")
