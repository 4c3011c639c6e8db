"""NeMo-RL's composite logger, as much of it as reaches a backend."""

from __future__ import annotations

from typing import Any


class Composite:
    """Calls every backend positionally, each with the same dict, and ends those that have a ``finish``.

    Attributes:
        loggers: The backends.
    """

    def __init__(self) -> None:
        self.loggers: list[Any] = []

    def log_metrics(
        self,
        metrics: dict[Any, Any],
        step: Any,
        prefix: str = "",
        step_metric: str | None = None,
        step_finished: bool = False,  # noqa: FBT001, FBT002 - NeMo-RL's interface
    ) -> None:
        """Hand the metrics of a step to every backend."""
        for logger in self.loggers:
            logger.log_metrics(metrics, step, prefix, step_metric, step_finished)

    def log_hyperparams(self, params: dict[str, Any]) -> None:
        """Hand the configuration of the run to every backend."""
        for logger in self.loggers:
            logger.log_hyperparams(params)

    def log_histogram(self, histogram: Any, step: Any, name: str) -> None:
        """Hand a histogram to every backend."""
        for logger in self.loggers:
            logger.log_histogram(histogram, step, name)

    def log_plot(self, figure: Any, step: Any, name: str) -> None:
        """Hand a figure to every backend."""
        for logger in self.loggers:
            logger.log_plot(figure, step, name)

    def finish(self) -> None:
        """End every backend that can be ended; there is no ``close`` among what it calls."""
        for logger in self.loggers:
            finish = getattr(logger, "finish", None)
            if finish is not None:
                finish()
