"""The arithmetic of a schedule, as the contract has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contracts.metrics_wire.protocols import Schedule


def epoch_of(step: int, steps_per_epoch: int) -> int:
    """Epoch of a step, from 1; the validation before training, step 0, belongs to epoch 1."""
    return (max(step, 1) - 1) // steps_per_epoch + 1


def percentage_of(step: int, schedule: Schedule) -> int | None:
    """Whole percent of the run, at most 100; ``None`` without a planned end."""
    return min(100, step * 100 // schedule.max_steps) if schedule.max_steps > 0 else None
