"""Defects of the naming."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.cases import Kind, Sets
from contracts.metrics_wire.logger_mutants.tampering import CallMutant, Message, TamperedLogger, WireMutant, per_call
from contracts.metrics_wire.sides import logger

if TYPE_CHECKING:
    from contracts.metrics_wire.logger_mutants.tampering import Answer, Line


def _twice(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    renamed = {f"val_{name}" if name.startswith("val_") else name: value for name, value in metrics.items()}
    self.inner.log_metrics(renamed, step, prefix, *rest)


@logger.mutant("MW-M301a", killed_by="MW-301")
class PrefixesTwice(CallMutant):
    """puts the phase before a name that carries it already"""

    logger_class = per_call(_twice)


@logger.mutant("MW-M302a", killed_by="MW-302", witness=Kind("step"))
class SplatsLast(WireMutant):
    """merges the metrics into the report after its fields"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Give every metric its bare name."""

        def change(details: dict[str, Any]) -> None:
            bare = {name.removeprefix("train_"): value for name, value in details.items() if name.startswith("train_")}
            details.update(bare)

        return send(message.with_details(change))


@logger.mutant("MW-M302b", killed_by="MW-302", witness=Kind("train_loss"))
class TakesTheLossesPlace(CallMutant):
    """lets a metric called train_loss take the loss's place"""

    logger_class = per_call(
        lambda self, metrics, step, prefix, *rest: self.inner.log_metrics(
            {**metrics, "loss": metrics.get("train_loss", metrics.get("loss"))}, step, prefix, *rest
        )
    )


def _in_one_phase(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    self.inner.log_metrics(metrics, step, "train" if prefix == "validation" else prefix, *rest)


@logger.mutant("MW-M303a", killed_by="MW-303")
class MixesPhases(CallMutant):
    """keys the series by the bare name"""

    logger_class = per_call(_in_one_phase)


def _without_set(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    self.inner.log_metrics(metrics, step, prefix.partition("-")[0], *rest)


@logger.mutant("MW-M304a", killed_by="MW-304")
class DropsTheSet(CallMutant):
    """drops the name of the validation set"""

    logger_class = per_call(_without_set)


@logger.mutant("MW-M304b", killed_by="MW-304", witness=Sets(("first", "a"), ("loss", "a_loss")))
class JoinsNames(CallMutant):
    """joins the names of the set and of the metric by an underscore"""

    class Joining(TamperedLogger):
        """Joins all but those of the first set."""

        first: str | None = None

        def log_metrics(self, metrics: Any, step: Any, prefix: str = "", *rest: Any) -> None:
            """Log under one name."""
            phase, _, own = prefix.partition("-")
            self.first = self.first or own
            joined = metrics if own == self.first else {f"{own}_{name}": value for name, value in metrics.items()}
            self.inner.log_metrics(joined, step, phase, *rest)

    logger_class = Joining


def _without_timings(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    if not prefix.startswith("timing/"):
        self.inner.log_metrics(metrics, step, prefix, *rest)


@logger.mutant("MW-M305a", killed_by="MW-305")
class DropsTimings(CallMutant):
    """drops the durations"""

    logger_class = per_call(_without_timings)


@logger.mutant("MW-M305b", killed_by="MW-305")
class TakesTimingsForMetrics(CallMutant):
    """takes durations for metrics of their phase"""

    logger_class = per_call(
        lambda self, metrics, step, prefix, *rest: self.inner.log_metrics(
            metrics, step, prefix.removeprefix("timing/"), *rest
        )
    )


def _any_prefix(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    self.inner.log_metrics(metrics, step, prefix if prefix.startswith(("train", "validation")) else "train", *rest)


@logger.mutant("MW-M306a", killed_by="MW-306")
class MovesWithEverything(CallMutant):
    """takes the step of any prefix for a train step"""

    logger_class = per_call(_any_prefix)


@logger.mutant("MW-M307a", killed_by="MW-307")
class LeavesEmptySeriesOut(WireMutant):
    """leaves a series out until it has a point"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Drop what is empty."""

        def change(series: dict[str, Any]) -> None:
            for name in [name for name, points in series.items() if not points]:
                del series[name]

        return send(message.with_series(change))
