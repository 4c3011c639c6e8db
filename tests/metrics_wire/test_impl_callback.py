"""The callback itself, for loops that report more than NeMo-RL's do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contracts.metrics_wire.waiting import holds_within
from impl.metrics_wire.callback import TrainingProgressCallback
from impl.metrics_wire.reporter import JobsServiceProgressReporter
from impl.metrics_wire.schedule import for_schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from contracts.metrics_wire.probe import Probe

    Series = Callable[[Probe, str], dict[int, Any]]
    Details = Callable[[Probe], dict[str, Any]]
    CallbackOf = Callable[[Probe], TrainingProgressCallback]


@pytest.fixture
def callback_of() -> Iterator[Callable[[Probe], TrainingProgressCallback]]:
    callbacks: list[TrainingProgressCallback] = []

    def build(probe: Probe) -> TrainingProgressCallback:
        callbacks.append(
            TrainingProgressCallback(JobsServiceProgressReporter(probe.task_url()), for_schedule(10, 2, 0))
        )
        return callbacks[-1]

    yield build
    for callback in callbacks:
        callback.close()


def test_additional_metrics_cannot_replace_the_loss_or_the_snapshot(
    probe: Probe, callback_of: CallbackOf, series: Series, details: Details
) -> None:
    callback = callback_of(probe)
    callback.report_train_step(3, 0.5, loss=9.0, train_loss=8.0, metrics=1, step=7, self=2, lr=1e-5)
    callback.close()
    assert series(probe, "train_loss") == {3: 0.5}
    assert series(probe, "train_lr") == {3: 1e-5}
    assert series(probe, "train_self") == {3: 2}
    assert details(probe)["step"] == 3


def test_a_validation_without_a_loss_is_reported_and_no_loss_is_made_up(
    probe: Probe, callback_of: CallbackOf, series: Series, details: Details
) -> None:
    callback = callback_of(probe)
    callback.report_validation(2, 0.5, accuracy=0.5)
    callback.report_validation(4, accuracy=0.75)
    callback.close()
    assert series(probe, "val_accuracy") == {2: 0.5, 4: 0.75}
    assert series(probe, "val_loss") == {2: 0.5}
    assert details(probe)["val_accuracy"] == 0.75
    assert "val_loss" not in details(probe)
    assert all(b"null" not in request.body for request in probe.requests)


def test_the_best_loss_is_kept_across_processes(probe: Probe, callback_of: CallbackOf, details: Details) -> None:
    first = callback_of(probe)
    first.report_validation(2, 0.5)
    first.report_validation(4, 0.25)
    first.close()
    assert (details(probe)["best_val_loss"], details(probe)["best_val_step"]) == (0.25, 4)
    second = callback_of(probe)
    second.report_validation(6, 0.75)
    second.close()
    assert (details(probe)["best_val_loss"], details(probe)["best_val_step"]) == (0.25, 4)


def test_a_run_without_losses_has_no_best_one(probe: Probe, callback_of: CallbackOf, details: Details) -> None:
    callback = callback_of(probe)
    callback.report_validation(2, accuracy=0.5)
    callback.close()
    assert not any(name.startswith("best") for name in details(probe))


def test_a_missing_checkpoint_path_keeps_the_last_one(probe: Probe, callback_of: CallbackOf, details: Details) -> None:
    first = callback_of(probe)
    first.report_checkpoint_saved(2, Path("/ckpt/2"))
    first.report_checkpoint_saved(4)
    first.report_train_step(5, 0.5)
    first.close()
    assert details(probe)["checkpoint_path"] == "/ckpt/2"
    second = callback_of(probe)
    second.report_train_step(6, 0.5)
    second.close()
    assert details(probe)["checkpoint_path"] == "/ckpt/2", "a process that takes over does not know of it"


def test_the_events_keep_the_series_and_enter_their_phase(
    probe: Probe, callback_of: CallbackOf, series: Series, details: Details
) -> None:
    callback = callback_of(probe)
    callback.report_train_step(1, 0.5)
    assert holds_within(20.0, lambda: series(probe, "train_loss") == {1: 0.5})
    for phase, report in {
        "training": callback.report_training_start,
        "epoch_end": lambda: callback.report_epoch_end(1),
        "checkpoint_saved": lambda: callback.report_checkpoint_saved(1),
    }.items():
        report()
        assert holds_within(20.0, lambda phase=phase: details(probe).get("phase") == phase)  # type: ignore[misc]  # bound at once
        assert series(probe, "train_loss") == {1: 0.5}


def test_late_logs_of_an_older_step_do_not_move_it_back(
    probe: Probe, callback_of: CallbackOf, series: Series, details: Details
) -> None:
    callback = callback_of(probe)
    callback.report_train_step(5, 0.5)
    callback.report_train_step(3, 0.3)
    callback.close()
    assert series(probe, "train_loss") == {3: 0.3, 5: 0.5}
    assert (details(probe)["step"], details(probe)["epoch"], details(probe)["train_loss"]) == (5, 1, 0.5)


@pytest.mark.parametrize("step", [-1, 1.5, "3", None])
def test_a_bad_step_is_dropped(
    probe: Probe, callback_of: CallbackOf, step: Any, caplog: pytest.LogCaptureFixture
) -> None:
    callback = callback_of(probe)
    callback.report_train_step(step, 0.5)
    callback.report_validation(step, 0.5)
    callback.report_epoch_end(step)
    callback.report_checkpoint_saved(step, "/ckpt")
    callback.close()
    assert probe.stored() is None
    assert caplog.text.count("a step is a whole number from 0") == 4


def test_two_validation_sets_never_share_a_series(probe: Probe, callback_of: CallbackOf, series: Series) -> None:
    callback = callback_of(probe)
    callback.report_validation(2, 0.5, "a", accuracy=0.5)
    callback.report_validation(2, 0.25, "b", accuracy=0.25)
    callback.close()
    assert series(probe, "val_loss") == {2: 0.5}
    assert series(probe, "val_@b/loss") == {2: 0.25}
    assert series(probe, "val_@b/accuracy") == {2: 0.25}


def test_a_step_that_is_complete_only_at_the_end_is_the_last_report(
    probe: Probe, series: Series, details: Details
) -> None:
    reporter = JobsServiceProgressReporter(probe.task_url())
    callback = TrainingProgressCallback(reporter, for_schedule(10, 1, 1000), freshness_s=0.05)
    callback.report_train_step(1, reward=0.5)
    assert holds_within(20.0, lambda: series(probe, "train_reward") == {1: 0.5})
    callback.close()
    assert (details(probe)["step"], details(probe)["percentage_done"]) == (1, 10)


def test_a_report_that_fails_inside_does_not_end_the_later_ones(
    probe: Probe, callback_of: CallbackOf, series: Series, details: Details, caplog: pytest.LogCaptureFixture
) -> None:
    callback = callback_of(probe)
    callback.report_training_start(object())
    assert holds_within(20.0, lambda: "a report failed" in caplog.text)
    callback.report_checkpoint_saved(1, b"/checkpoints/1")
    callback.report_train_step(2, 0.5)
    callback.close()
    assert series(probe, "train_loss") == {2: 0.5}
    assert details(probe)["checkpoint_path"] == "/checkpoints/1"
