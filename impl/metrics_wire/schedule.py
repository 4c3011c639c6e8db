"""Schedule arithmetic: epoch, percentage and log interval, for every algorithm from one place."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import SupportsIndex

#: How many train reports are wanted between two validation passes.
REPORTS_PER_VALIDATION = 10


@dataclass(frozen=True, slots=True)
class Schedule:
    """What a run is planned to do. Built by `for_schedule`.

    Attributes:
        max_steps: Train steps of the whole run, counted from 1; 0 or less where the run has no planned end.
        num_epochs: Epochs of the whole run; 0 where the loop knows none.
        steps_per_epoch: Train steps of one epoch; ``None`` where it can be neither told nor derived.
        log_interval: Train steps between two reports, at least 1.
    """

    max_steps: int
    num_epochs: int
    steps_per_epoch: int | None
    log_interval: int

    def epoch(self, step: int) -> int:
        """Epoch of a train step, from 1; step 0, the validation before training, belongs to epoch 1.

        Depends on the step alone, so that a process that takes over in mid-run numbers as the first one did.
        """
        if self.steps_per_epoch is None:
            return 1
        epoch = (max(step, 1) - 1) // self.steps_per_epoch + 1
        if self.num_epochs > 0 and step <= self.max_steps:
            return min(epoch, self.num_epochs)
        return epoch

    def percentage_done(self, step: int) -> int | None:
        """Whole percent of the run at ``step``, 0 to 100, in exact arithmetic; ``None`` without a planned end."""
        if self.max_steps <= 0:
            return None
        return min(100, max(step, 0) * 100 // self.max_steps)


def for_schedule(
    max_steps: SupportsIndex,
    num_epochs: SupportsIndex | None,
    val_period: SupportsIndex | None,
    steps_per_epoch: SupportsIndex | None = None,
) -> Schedule:
    """The schedule of a run, from what the algorithms' configurations have in common.

    Args:
        max_steps: Planned train steps; 0 or less if the run has no planned end.
        num_epochs: Planned epochs; ``None`` or 0 if the loop knows none.
        val_period: Train steps between two validation passes; ``None`` or 0 if there are none.
        steps_per_epoch: Train steps of one epoch, where the configuration states it. Derived otherwise, rounded up,
            so that the last step of a run still lies in its last epoch.

    Raises:
        TypeError: If one of them is no integer.
        ValueError: If ``steps_per_epoch`` is less than 1.
    """
    steps = _whole("max_steps", max_steps)
    epochs = max(0, _whole("num_epochs", num_epochs or 0))
    period = _whole("val_period", val_period or 0)
    if steps_per_epoch is not None:
        per_epoch: int | None = _whole("steps_per_epoch", steps_per_epoch)
        if per_epoch is not None and per_epoch < 1:
            raise ValueError(f"steps_per_epoch must be at least 1, got {per_epoch}; leave it out to have it derived")
    else:
        per_epoch = -(-steps // max(epochs, 1)) if steps > 0 else None
    return Schedule(steps, epochs, per_epoch, max(1, period // REPORTS_PER_VALIDATION))


def _whole(name: str, value: SupportsIndex) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
