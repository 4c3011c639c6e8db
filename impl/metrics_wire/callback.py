"""The progress callback: what a training loop reports, whichever loop it is."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, ClassVar

from impl.metrics_wire.delivery import Delivery
from impl.metrics_wire.naming import Phase, series_names, timing_qualifier
from impl.metrics_wire.sender import DEFAULT_CLOSE_DEADLINE_S, DEFAULT_FRESHNESS_S, ReportSender
from impl.metrics_wire.state import RunState, Scalars
from impl.metrics_wire.values import chartable_metrics, printable, step_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from impl.metrics_wire.reporter import JobsServiceProgressReporter
    from impl.metrics_wire.schedule import Schedule

_LOG = logging.getLogger(__name__)


class TrainingProgressCallback:
    """Accumulates what a run observes and reports it, from another thread.

    Every number becomes a point of its series at once; the schedule's ``log_interval`` decides only how often a report
    is sent. Steps are the loop's own, from 1; step 0 is the validation before training.

    Args:
        reporter: The task. Nothing is reported where it is not enabled.
        schedule: The run's schedule, from `for_schedule`.
        freshness_s: Seconds after which points are delivered though no report is due.
        close_deadline_s: Seconds that `close` may take.

    Attributes:
        backend: Name of the training backend, set by a subclass; it is left out of the reports if ``None``.
        schedule: The run's schedule.
    """

    backend: ClassVar[str | None] = None

    def __init__(
        self,
        reporter: JobsServiceProgressReporter,
        schedule: Schedule,
        *,
        freshness_s: float = DEFAULT_FRESHNESS_S,
        close_deadline_s: float = DEFAULT_CLOSE_DEADLINE_S,
    ) -> None:
        self.schedule = schedule
        self._is_closed = not reporter.enabled
        self._asked_at = 0
        self._dropped_names: set[str] = set()
        self._state = RunState(schedule, self.backend)
        self._sender = ReportSender(
            Delivery(reporter.client, self._state),
            reporter.client,
            self._state.series,
            freshness_s=freshness_s,
            close_deadline_s=close_deadline_s,
        )

    def report_training_start(self, message: str | None = None) -> None:
        """Report that the loop begins. What an earlier process of the same task has stored is kept."""
        if not self._is_closed:
            self._state.enter("training", message=message)
            self._sender.ask(urgent=True)

    def report_train_step(self, step: int, train_loss: object = None, /, **additional_metrics: object) -> None:
        """Report one train step, or a part of it: several reports of one step are one.

        Args:
            step: The step, from 1.
            train_loss: Its loss. Without one the step stays open: the rest of it may follow.
            **additional_metrics: Every other metric, under the loop's own name.
        """
        metrics = _with_loss(train_loss, additional_metrics)
        self.record_train(step, metrics, is_complete="loss" in metrics)

    def report_validation(
        self, step: int, val_loss: object = None, validation_set: str = "", /, **additional_metrics: object
    ) -> None:
        """Report one validation pass, never withheld.

        Args:
            step: The train step that it follows, 0 before training.
            val_loss: Its loss, where the algorithm has one.
            validation_set: Name of the validation set; the first set keeps the bare names.
            **additional_metrics: Every other metric, under the loop's own name.
        """
        self.record_validation(step, _with_loss(val_loss, additional_metrics), validation_set)

    def report_epoch_end(self, step: int) -> None:
        """Report that an epoch ended with ``step``."""
        number = self._usable(step)
        if number is not None:
            self._complete_step()
            self._state.enter("epoch_end", step=number)
            self._sender.ask(urgent=True)

    def report_checkpoint_saved(self, step: int, checkpoint_path: str | os.PathLike[str] | None = None) -> None:
        """Report a saved checkpoint; without a path the last known one stays."""
        number = self._usable(step)
        if number is not None:
            self._state.checkpoint_path = os.fsdecode(checkpoint_path or "") or self._state.checkpoint_path
            self._state.enter("checkpoint_saved", step=number)
            self._sender.ask(urgent=True)

    def record_train(self, step: object, metrics: Mapping[object, object], *, is_complete: bool) -> None:
        """Add to a train step.

        Args:
            step: The step, from 1.
            metrics: Any names, any values; what cannot be charted is left out.
            is_complete: Whether this is the step's own log, rather than that of its rollout.
        """
        number = self._usable(step)
        if number is None:
            return
        if self._state.in_flight_step not in {None, number}:
            self._complete_step()
        self._state.train(number, self._add("train", number, metrics))
        self._sender.change()
        if is_complete:
            self._complete_step()

    def record_validation(self, step: object, metrics: Mapping[object, object], validation_set: str = "") -> None:
        """Add to the validation pass of a step, as `report_validation` does."""
        number = self._usable(step)
        if number is None:
            return
        with self._state.naming:
            qualifier = self._state.validation_sets.qualifier(validation_set)
            self._state.validation(number, self._add("val", number, metrics, qualifier))
        self._sender.ask(urgent=True)

    def record_durations(
        self, step: object, metrics: Mapping[object, object], phase: Phase, validation_set: str = ""
    ) -> None:
        """Add durations to a train step or a validation pass. They never move the step."""
        number = self._usable(step)
        if number is None:
            return
        scalars = self._add(phase, number, metrics, timing_qualifier(validation_set))
        self._state.durations(number, scalars, of_validation=phase == "val")
        self._sender.change()
        # The loops time a step after they have logged it: nothing more of it comes.
        if phase == "train" and self._state.in_flight_step == number:
            self._complete_step()

    def close(self) -> bool:
        """Deliver everything that is left, within the deadline. A second call does nothing.

        Returns:
            Whether everything was delivered.
        """
        if not self._is_closed:
            self._is_closed = True
            self._complete_step()
        return self._sender.close()

    def __del__(self) -> None:
        if hasattr(self, "_sender"):  # absent if the constructor raised
            self.close()

    def _usable(self, step: object) -> int | None:
        """The step's number, ``None`` if nothing is to be done with it."""
        if self._is_closed:
            return None
        number = step_number(step)
        if number is None:
            _LOG.warning("dropped a report: a step is a whole number from 0, got %.40s", printable(step))
        return number

    def _add(self, phase: Phase, step: int, metrics: Mapping[object, object], qualifier: str = "") -> Scalars:
        values = chartable_metrics(metrics, self._dropped)
        names = series_names(tuple(values), phase, qualifier)
        self._state.series.add(names, step, self.schedule.epoch(step), values.values())
        return dict(zip(names, values.values(), strict=True))

    def _dropped(self, name: str, reason: str) -> None:
        if name not in self._dropped_names:  # a metric that is NaN is so at most steps: one line says it
            self._dropped_names.add(name)
            _LOG.warning("dropped metric %s from now on wherever it is like this: %s", name, reason)

    def _complete_step(self) -> None:
        step = self._state.train_complete()
        if step is None:
            return
        # What was on its way before may have gone without this step's being complete.
        self._sender.change()
        if step // self.schedule.log_interval > self._asked_at // self.schedule.log_interval:
            self._sender.ask()
            self._asked_at = step


def _with_loss(loss: object, metrics: Mapping[str, object]) -> dict[object, object]:
    """The metrics of a report; its loss cannot be replaced by a metric of the same name."""
    own: dict[object, object] = dict(metrics.items())
    return own if loss is None else own | {"loss": loss}
