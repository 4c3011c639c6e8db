"""What is known of a run at this moment: the snapshot that rides beside the series."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal

from impl.metrics_wire.naming import ValidationSets
from impl.metrics_wire.series import SeriesStore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from impl.metrics_wire.naming import Renaming
    from impl.metrics_wire.schedule import Schedule
    from impl.metrics_wire.stored import StoredTask

Phase = Literal["training", "validation", "checkpoint_saved", "epoch_end"]

Scalars = dict[str, float | int]


class RunState:
    """The snapshot of a run, written by the training thread and read by the sending one.

    A train step is *current* once its own log is complete. Until then its scalars are *in flight*: GRPO and PPO log the
    rollout of a step before the step itself, and that must not take the place of the last complete step.

    Args:
        schedule: The run's schedule.
        backend: Name of the training backend, left out of the snapshot if ``None``.

    Attributes:
        series: Every point that was observed, in flight or not.
        validation_sets: Which validation set has the bare names.
        naming: Held while names are chosen and used: what is stored may show that another set was the first.
        checkpoint_path: The last checkpoint that is known.
        step: The newest step that is current, ``None`` before the first.
    """

    def __init__(self, schedule: Schedule, backend: str | None = None) -> None:
        self._schedule = schedule
        self._backend = backend
        self._lock = threading.Lock()
        self._phase: Phase = "training"
        self._message: str | None = None
        self._train: tuple[int, Scalars] = (-1, {})
        self._validation: tuple[int, Scalars] = (-1, {})
        self._in_flight: tuple[int, Scalars] | None = None
        self._val_losses: dict[int, float | int] = {}
        self.series = SeriesStore()
        self.validation_sets = ValidationSets()
        # Reentrant: a signal handler may close the logger in the middle of a call.
        self.naming = threading.RLock()
        self.checkpoint_path: str | None = None
        self.step: int | None = None

    @property
    def in_flight_step(self) -> int | None:
        """The train step whose log is not complete, if there is one."""
        return self._in_flight[0] if self._in_flight else None

    def train(self, step: int, scalars: Scalars) -> None:
        """Add to a train step that is not complete yet."""
        current, known = self._train
        if step <= current:
            if step == current:
                self._train = (step, known | scalars)
            return
        before, so_far = self._in_flight or (step, {})
        if step >= before:
            self._in_flight = (step, so_far | scalars if step == before else scalars)

    def train_complete(self) -> int | None:
        """Make the step in flight current; its number, ``None`` if none was in flight."""
        if self._in_flight is None:
            return None
        self._train, self._in_flight = self._in_flight, None
        self._move("training", self._train[0])
        return self._train[0]

    def validation(self, step: int, scalars: Scalars) -> None:
        """Add to the validation pass of a step; the scalars of an earlier pass leave the snapshot."""
        at, known = self._validation
        self._validation = (step, known | scalars if at == step else scalars)
        if "val_loss" in scalars:
            with self._lock:
                self._val_losses[step] = scalars["val_loss"]
        self._move("validation", step)

    def durations(self, step: int, scalars: Scalars, *, of_validation: bool) -> None:
        """Add durations to the step or pass that they belong to; they never move the step."""
        at, known = self._validation if of_validation else self._train
        if of_validation and at == step:
            self._validation = (step, known | scalars)
        elif not of_validation and at == step:
            self._train = (step, known | scalars)
        elif not of_validation and self._in_flight and self._in_flight[0] == step:
            self._in_flight = (step, self._in_flight[1] | scalars)

    def enter(self, phase: Phase, *, step: int | None = None, message: str | None = None) -> None:
        """Enter a phase that brings no observation of its own."""
        self._move(phase, step, message)

    def take_over(self, stored: StoredTask) -> None:
        """Continue what an earlier process has stored."""
        with self.naming:
            renaming = self.validation_sets.learn(stored.metrics)
            if renaming is not None:
                self._rename(renaming)
            self.series.take_over(stored.metrics)
        self.checkpoint_path = self.checkpoint_path or stored.checkpoint_path
        with self._lock:
            for point in stored.metrics.get("val_loss", ()):
                self._val_losses.setdefault(point.step, point.value)

    def _rename(self, renaming: Renaming) -> None:
        """Give observations other names, since another set than the first of this process was the task's first."""
        self.series.rename(renaming)
        at, scalars = self._validation
        self._validation = (at, {renaming(name): value for name, value in scalars.items()})
        with self._lock:
            self._val_losses = self.series.values("val_loss")

    def snapshot(self) -> dict[str, Any]:
        """The snapshot, without the series. Only what was observed is in it."""
        schedule, step = self._schedule, self.step
        planned: dict[str, Any] = {
            "phase": self._phase,
            "message": self._message,
            "backend": self._backend,
            "step": step,
            "epoch": None if step is None else schedule.epoch(step),
            "max_steps": schedule.max_steps if schedule.max_steps > 0 else None,
            "num_epochs": schedule.num_epochs or None,
            "percentage_done": None if step is None else schedule.percentage_done(step),
            "checkpoint_path": self.checkpoint_path,
        }
        # The metrics come first: whatever a metric is called, it cannot take the place of what stands after it.
        return {
            **self._train[1],
            **self._validation[1],
            **self._best(),
            **{name: value for name, value in planned.items() if value is not None},
        }

    def _best(self) -> Mapping[str, float | int]:
        with self._lock:
            if not self._val_losses:
                return {}
            step = min(self._val_losses, key=lambda at: (self._val_losses[at], at))
            return {"best_val_loss": self._val_losses[step], "best_val_step": step}

    def _move(self, phase: Phase, step: int | None, message: str | None = None) -> None:
        self._phase = phase
        self._message = message
        if step is not None:
            self.step = step if self.step is None else max(self.step, step)
