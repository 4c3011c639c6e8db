from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.metrics_wire.schedule import for_schedule


def test_epoch_counts_from_one_and_the_validation_before_training_belongs_to_it() -> None:
    schedule = for_schedule(6, 2, 2, 3)
    assert [schedule.epoch(step) for step in range(8)] == [1, 1, 1, 1, 2, 2, 2, 3]


def test_percentage_is_exact_where_floats_round_down() -> None:
    assert for_schedule(50, 1, 0).percentage_done(29) == 58
    assert [step for step in range(24) if for_schedule(23, 1, 0).percentage_done(step) == 100] == [23]


def test_percentage_never_passes_100_and_needs_a_planned_end() -> None:
    assert for_schedule(10, 1, 0).percentage_done(11) == 100
    assert for_schedule(0, 1, 0).percentage_done(3) is None
    assert for_schedule(-1, 1, 0).percentage_done(3) is None


@pytest.mark.parametrize(("val_period", "interval"), [(100, 10), (10, 1), (9, 1), (0, 1), (-1, 1), (None, 1), (25, 2)])
def test_log_interval_is_a_tenth_of_the_validation_period(val_period: int | None, interval: int) -> None:
    assert for_schedule(1000, 1, val_period).log_interval == interval


def test_stated_steps_per_epoch_win_over_derived_ones() -> None:
    assert for_schedule(20, 2, 0, 4).steps_per_epoch == 4
    assert for_schedule(20, 2, 0).steps_per_epoch == 10
    assert for_schedule(7, 2, 0).steps_per_epoch == 4
    assert for_schedule(20, None, 0).steps_per_epoch == 20
    assert for_schedule(0, 2, 0).steps_per_epoch is None


def test_numpy_integers_are_integers() -> None:
    assert for_schedule(np.int64(20), np.int64(2), np.int64(100), np.int64(4)) == for_schedule(20, 2, 100, 4)


@pytest.mark.parametrize("name", ["max_steps", "num_epochs", "val_period", "steps_per_epoch"])
def test_what_is_no_integer_is_named(name: str) -> None:
    fields = {"max_steps": 20, "num_epochs": 2, "val_period": 10, "steps_per_epoch": 4, name: 1.5}
    with pytest.raises(TypeError, match=f"{name} must be an integer, got 1.5"):
        for_schedule(**fields)  # type: ignore[arg-type]  # the point of the test


@pytest.mark.parametrize("steps_per_epoch", [0, -1])
def test_an_epoch_without_steps_is_refused(steps_per_epoch: int) -> None:
    with pytest.raises(ValueError, match="steps_per_epoch must be at least 1"):
        for_schedule(20, 2, 10, steps_per_epoch)


@given(max_steps=st.integers(1, 5000), num_epochs=st.integers(1, 60), stated=st.none() | st.integers(1, 700))
def test_every_planned_step_lies_in_a_planned_epoch(max_steps: int, num_epochs: int, stated: int | None) -> None:
    schedule = for_schedule(max_steps, num_epochs, 0, stated)
    epochs = [schedule.epoch(step) for step in range(max_steps + 1)]
    assert epochs == sorted(epochs)
    assert epochs[0] == 1
    assert max(epochs) <= num_epochs
    if stated is not None:
        assert all(epoch == min((max(step, 1) - 1) // stated + 1, num_epochs) for step, epoch in enumerate(epochs))
