"""The logger that NeMo-RL's composite logger calls, beside its others. It imports nothing of NeMo-RL."""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING, Concatenate, ParamSpec, SupportsIndex, TypeVar

from impl.metrics_wire.callback import TrainingProgressCallback
from impl.metrics_wire.naming import channel
from impl.metrics_wire.reporter import JobsServiceProgressReporter
from impl.metrics_wire.schedule import for_schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LOG = logging.getLogger(__name__)
_P = ParamSpec("_P")
_Self = TypeVar("_Self")

#: Names under which a train dict carries its loss; the dict of a rollout has none of them.
_LOSSES = frozenset({"loss", "train_loss"})


def _never_into_the_loop(method: Callable[Concatenate[_Self, _P], None]) -> Callable[Concatenate[_Self, _P], None]:
    """A run is worth more than its curves: whatever goes wrong in a call is logged, with its stack."""

    @functools.wraps(method)
    def call(self: _Self, /, *args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception:  # noqa: BLE001 - any defect here must cost a curve, never the run
            _LOG.exception("%s failed, training goes on", method.__name__)

    return call


class NemoRLLogger:
    """Reports what a NeMo-RL loop logs to the Jobs service.

    It is one more backend of the composite logger, which calls every backend with the same dict and dispatches the end
    of a run as ``getattr(logger, "finish", None)``. The loops themselves do not end their loggers: a driver must call
    `close`, as `impl.metrics_wire.run` does. No call raises, none waits for the service, and none after `close` does
    anything.

    Args:
        callback: What reports.

    Attributes:
        callback: What reports; for the events that the loops do not log.
    """

    def __init__(self, callback: TrainingProgressCallback) -> None:
        self.callback = callback
        self._has_started = False

    @classmethod
    def for_schedule(
        cls,
        max_steps: SupportsIndex,
        num_epochs: SupportsIndex | None,
        val_period: SupportsIndex | None,
        steps_per_epoch: SupportsIndex | None = None,
        *,
        reporter: JobsServiceProgressReporter | None = None,
        callback_class: type[TrainingProgressCallback] = TrainingProgressCallback,
    ) -> NemoRLLogger:
        """The logger of a run, from what the algorithms' configurations have in common.

        Args:
            max_steps: Planned train steps; 0 or less if the run has no planned end.
            num_epochs: Planned epochs; ``None`` or 0 if the loop knows none.
            val_period: Train steps between two validation passes; ``None`` or 0 if there are none. A tenth of it is
                the interval of the train reports.
            steps_per_epoch: Train steps of one epoch, where the configuration states it.
            reporter: The task, by default the one that the environment names.
            callback_class: Which algorithm it is.

        Raises:
            TypeError: If a number is no integer.
            ValueError: If a number makes no sense, or the environment names no task.
        """
        schedule = for_schedule(max_steps, num_epochs, val_period, steps_per_epoch)
        return cls(callback_class(reporter or JobsServiceProgressReporter.from_environment(), schedule))

    @_never_into_the_loop
    def log_metrics(
        self,
        metrics: Mapping[object, object],
        step: object,
        prefix: str | None = "",
        step_metric: str | None = None,  # noqa: ARG002 - NeMo-RL's interface; the x-axis of a curve is the step
        step_finished: bool = False,  # noqa: ARG002, FBT001, FBT002 - NeMo-RL's interface; no loop sets it reliably
    ) -> None:
        """Take what a loop observed at ``step``.

        Args:
            metrics: The loop's own dict; it is neither kept nor changed.
            step: The train step, from 1, or 0 for the validation before training.
            prefix: What the metrics are of. ``train``, ``validation``, ``validation-<set>`` and their ``timing/`` are
                taken; the steps of any other prefix are not train steps.
            step_metric: Not used.
            step_finished: Not used.
        """
        of = channel(prefix or "")
        if of is None:
            _LOG.debug("metrics of %r are not reported", prefix)
            return
        if not metrics:
            return
        observed = dict(metrics)
        if of.timing:
            self.callback.record_durations(step, observed, of.phase, of.validation_set)
        elif of.phase == "val":
            self.callback.record_validation(step, observed, of.validation_set)
        else:
            self.callback.record_train(step, observed, is_complete=not _LOSSES.isdisjoint(observed))

    @_never_into_the_loop
    def log_hyperparams(self, params: Mapping[str, object]) -> None:  # noqa: ARG002 - the schedule was given
        """Report that training starts; loops log their configuration once, or twice, before the first step."""
        if not self._has_started:
            self._has_started = True
            self.callback.report_training_start()

    def log_histogram(self, histogram: object, step: object, name: str) -> None:
        """Nothing: a histogram is no point of a curve."""

    def log_plot(self, figure: object, step: object, name: str) -> None:
        """Nothing: a figure is no point of a curve."""

    @_never_into_the_loop
    def close(self) -> None:
        """Deliver everything that is left, within the callback's deadline; what could not be delivered is logged."""
        self.callback.close()

    #: The name under which the composite logger ends its backends.
    finish = close
