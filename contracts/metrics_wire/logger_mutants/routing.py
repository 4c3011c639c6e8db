"""Defects of the routing."""

from __future__ import annotations

import math
from typing import Any

from contracts.metrics_wire.logger_mutants.tampering import CallMutant, TamperedLogger, per_call
from contracts.metrics_wire.sides import logger


def _gated(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    if prefix != "validation" or "loss" in metrics:
        self.inner.log_metrics(metrics, step, prefix, *rest)


@logger.mutant("MW-M401a", killed_by="MW-401")
class WantsAValidationLoss(CallMutant):
    """drops a validation without a loss"""

    logger_class = per_call(_gated)


def _made_up(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    made_up = {"loss": 0.0} if prefix == "validation" else {}
    self.inner.log_metrics({**made_up, **metrics}, step, prefix, *rest)


@logger.mutant("MW-M401b", killed_by="MW-401")
class MakesUpALoss(CallMutant):
    """makes up a loss of 0 for a validation without one"""

    logger_class = per_call(_made_up)


@logger.mutant("MW-M402a", killed_by="MW-402")
class TakesTheFirstDict(CallMutant):
    """takes the first train dict of a step for the whole of it"""

    class First(TamperedLogger):
        """Knows the last step."""

        last: Any = None

        def log_metrics(self, metrics: Any, step: Any, prefix: str = "", *rest: Any) -> None:
            """Log the first dict of each step."""
            if prefix != "train" or step != self.last:
                self.inner.log_metrics(metrics, step, prefix, *rest)
            if prefix == "train":
                self.last = step

    logger_class = First


def _loss_only(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    if prefix != "train" or "loss" in metrics:
        self.inner.log_metrics(metrics, step, prefix, *rest)


@logger.mutant("MW-M402b", killed_by="MW-402")
class DropsRollouts(CallMutant):
    """drops the rollout dicts of a step"""

    logger_class = per_call(_loss_only)


@logger.mutant("MW-M403a", killed_by="MW-403")
class HoldsRollouts(CallMutant):
    """holds a rollout in memory until the dict with the loss comes"""

    class Holding(TamperedLogger):
        """Holds one rollout."""

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.held: dict[Any, Any] = {}

        def log_metrics(self, metrics: Any, step: Any, prefix: str = "", *rest: Any) -> None:
            """Hold, or log together."""
            if prefix == "train" and "loss" not in metrics:
                self.held = dict(metrics)
                return
            held, self.held = (self.held, {}) if prefix == "train" else ({}, self.held)
            self.inner.log_metrics({**held, **metrics}, step, prefix, *rest)

    logger_class = Holding


def _finite_loss(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    if prefix != "train" or math.isfinite(metrics.get("loss", math.nan)):
        self.inner.log_metrics(metrics, step, prefix, *rest)


@logger.mutant("MW-M404a", killed_by="MW-404")
class WantsATrainLoss(CallMutant):
    """drops a train dict without a finite loss"""

    logger_class = per_call(_finite_loss)


def _never_empty(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    filled = {"accuracy": 0.0} if prefix == "validation" and not metrics else metrics
    self.inner.log_metrics(filled, step, prefix, *rest)


@logger.mutant("MW-M405a", killed_by="MW-405")
class ReportsAnEmptyValidation(CallMutant):
    """reports a validation that never ran"""

    logger_class = per_call(_never_empty)
