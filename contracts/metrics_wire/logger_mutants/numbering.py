"""Defects of the numbering."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.cases import Planned, Run
from contracts.metrics_wire.logger_mutants.tampering import CallMutant, Message, TamperedLogger, WireMutant, per_call
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.sides import logger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.metrics_wire.logger_mutants.tampering import Answer, Line


@logger.mutant("MW-M101a", killed_by="MW-101")
class AddsOne(CallMutant):
    """adds one to a step that the loop already counts from 1"""

    logger_class = per_call(
        lambda self, metrics, step, prefix, *rest: self.inner.log_metrics(metrics, step + 1, prefix, *rest)
    )


@logger.mutant("MW-M101b", killed_by="MW-101", witness=Run(first=11, steps=3))
class CountsInTheProcess(CallMutant):
    """numbers the steps of each process from 1"""

    class Counting(TamperedLogger):
        """Counts for itself."""

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.count = 0

        def log_metrics(self, metrics: Any, step: Any, prefix: str = "", *rest: Any) -> None:  # noqa: ARG002 - that is it
            """Log the next number."""
            self.count += 1
            self.inner.log_metrics(metrics, self.count, prefix, *rest)

    logger_class = Counting


def _unless_zero(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    if step:
        self.inner.log_metrics(metrics, step, prefix, *rest)


@logger.mutant("MW-M102a", killed_by="MW-102")
class TakesZeroForNoStep(CallMutant):
    """takes step 0 for no step"""

    logger_class = per_call(_unless_zero)


@logger.mutant("MW-M102b", killed_by="MW-102")
class WaitsForTheConfiguration(CallMutant):
    """logs nothing before it was given the configuration"""

    class Waiting(TamperedLogger):
        """Waits."""

        is_configured = False

        def log_hyperparams(self, params: Any) -> None:
            """Begin."""
            self.is_configured = True
            self.inner.log_hyperparams(params)

        def log_metrics(self, metrics: Any, step: Any, prefix: str = "", *rest: Any) -> None:
            """Log, if it has begun."""
            if self.is_configured:
                self.inner.log_metrics(metrics, step, prefix, *rest)

    logger_class = Waiting


class _Reschedules(CallMutant, ABC):
    @abstractmethod
    def changed(self, schedule: dict[str, Any], algorithm: str) -> None:
        """Change the schedule of a process in place."""

    def start(
        self, task_url: str, schedule: Mapping[str, int | None], *, rank: int = 0, algorithm: str = "grpo"
    ) -> Any:
        other: dict[str, Any] = dict(schedule)
        self.changed(other, algorithm)
        return super().start(task_url, other, rank=rank, algorithm=algorithm)


@logger.mutant("MW-M103a", killed_by="MW-103", witness=Planned(Schedule(10, 3, 0, 5), (1, 5, 6, 10)))
class DerivesWhatIsStated(_Reschedules):
    """derives the steps of an epoch though the configuration states them"""

    def changed(self, schedule: dict[str, Any], algorithm: str) -> None:  # noqa: ARG002 - both alike
        """Forget what is stated."""
        schedule["steps_per_epoch"] = None


class _Epochs(WireMutant, ABC):
    """Rewrites the epochs of the points, by their step and the schedule."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.schedule: dict[str, Any] = {}

    @abstractmethod
    def epoch(self, step: int) -> int:
        """The epoch that a point at ``step`` is sent with."""

    def start(self, task_url: str, schedule: Mapping[str, int | None], **options: Any) -> Any:
        self.schedule = dict(schedule)
        return super().start(task_url, schedule, **options)

    def tamper(self, message: Message, send: Line) -> Answer:
        def change(series: dict[str, list[dict[str, Any]]]) -> None:
            for points in series.values():
                for point in points:
                    point["epoch"] = self.epoch(point["step"])

        return send(message.with_series(change))


@logger.mutant("MW-M103b", killed_by="MW-103")
class FlipsAnEpochEarly(_Epochs):
    """begins an epoch one step too early, from a step counted from 0"""

    def epoch(self, step: int) -> int:
        """Of a step counted from 0."""
        return step // int(self.schedule["steps_per_epoch"] or 1) + 1


@logger.mutant("MW-M104a", killed_by="MW-104", witness=Planned(Schedule(7, 2, 0, None), (1, 4, 5, 7)))
class RoundsDown(_Epochs):
    """rounds the derived steps of an epoch down, and puts the rest into an epoch too many"""

    def epoch(self, step: int) -> int:
        """By the rounded steps of an epoch."""
        per_epoch = self.schedule["max_steps"] // self.schedule["num_epochs"]
        return int((step - 1) // per_epoch + 1)


class _Percentages(WireMutant, ABC):
    """Rewrites percentage_done."""

    @abstractmethod
    def percentage(self, step: int, max_steps: int) -> int:
        """The percentage that is sent with ``step``; ``max_steps`` is 0 without a planned end."""

    def tamper(self, message: Message, send: Line) -> Answer:
        def change(details: dict[str, Any]) -> None:
            if "step" in details:
                details["percentage_done"] = self.percentage(details["step"], details.get("max_steps", 0))

        return send(message.with_details(change))


@logger.mutant("MW-M105a", killed_by="MW-105")
class DividesFloats(_Percentages):
    """computes the percentage in floats"""

    def percentage(self, step: int, max_steps: int) -> int:
        """29 of 50 is 57."""
        return int(step / max_steps * 100) if max_steps else 0


@logger.mutant("MW-M105b", killed_by="MW-105", witness=Run(schedule=Schedule(max_steps=10), first=12, steps=1))
class PassesTheEnd(_Percentages):
    """lets the percentage pass 100"""

    def percentage(self, step: int, max_steps: int) -> int:
        """12 of 10 is 120."""
        return step * 100 // max_steps


@logger.mutant("MW-M105c", killed_by="MW-105", witness=Run(schedule=Schedule(max_steps=0), first=3, steps=1))
class IsNowhere(_Percentages):
    """is at 0 percent where there is no planned end"""

    def percentage(self, step: int, max_steps: int) -> int:
        """0 of nothing."""
        return min(100, step * 100 // max_steps) if max_steps else 0


def _checked(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    if step != int(step):
        raise ValueError(f"a step is an integer, got {step}")
    self.inner.log_metrics(metrics, step, prefix, *rest)


def _own_integers(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    if type(step) is int:
        self.inner.log_metrics(metrics, step, prefix, *rest)


@logger.mutant("MW-M106c", killed_by="MW-106")
class TakesItsOwnIntegers(CallMutant):
    """drops a step that is not of Python's own type"""

    logger_class = per_call(_own_integers)


@logger.mutant("MW-M108a", killed_by="MW-108")
class RaisesIntoTheLoop(CallMutant):
    """raises for a step that is no integer"""

    logger_class = per_call(_checked)


@logger.mutant("MW-M108b", killed_by="MW-108")
class FloorsTheStep(CallMutant):
    """floors a step that is no integer"""

    logger_class = per_call(
        lambda self, metrics, step, prefix, *rest: self.inner.log_metrics(metrics, int(step), prefix, *rest)
    )


@logger.mutant("MW-M107a", killed_by="MW-107", witness=Run(algorithm="dpo"))
class GuardsByOne(_Reschedules):
    """adds one to the interval of DPO, against a division by zero"""

    def changed(self, schedule: dict[str, Any], algorithm: str) -> None:
        """An interval of 11."""
        if algorithm == "dpo":
            schedule["val_period"] += 10
