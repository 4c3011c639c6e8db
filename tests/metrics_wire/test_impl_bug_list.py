"""The known bugs of this class, as sequences, one test each; against a service that replaces, merges, appends."""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from contracts.metrics_wire.probe import Fault, Probe

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from impl.metrics_wire.logger import NemoRLLogger

    Start = Callable[..., NemoRLLogger]
    Series = Callable[[Probe, str], dict[int, Any]]
    Details = Callable[[Probe], dict[str, Any]]


def test_off_by_one(probe: Probe, start: Start, series: Series, details: Details) -> None:
    logger = start(probe, 23, 1, steps_per_epoch=23)
    for step in range(1, 24):
        logger.log_metrics({"loss": step / 10}, step, "train")
    logger.close()
    assert series(probe, "train_loss") == {step: step / 10 for step in range(1, 24)}
    points = probe.stored()["status_details"]["metrics"]["train_loss"]  # type: ignore[index]  # it is stored
    assert {point["epoch"] for point in points} == {1}
    assert (details(probe)["step"], details(probe)["percentage_done"]) == (23, 100)
    reports = [request.json["status_details"] for request in probe.requests if request.method == "PUT"]
    assert all(report.get("percentage_done", 0) < 100 for report in reports if report.get("step") != 23)


def test_a_second_train_dict_of_a_step_is_kept(probe: Probe, start: Start, series: Series) -> None:
    logger = start(probe)
    logger.log_metrics({"loss": 0.5}, 1, "train")
    logger.log_metrics({"t": 2.0}, 1, "timing/train", None, True)  # noqa: FBT003 - NeMo-RL's interface
    logger.log_metrics({"extra": 7}, 1, "train")
    logger.close()
    assert series(probe, "train_extra") == {1: 7}
    assert series(probe, "train_loss") == {1: 0.5}
    assert series(probe, "train_timing/t") == {1: 2.0}


def test_the_gpu_monitor_moves_nothing(probe: Probe, start: Start, details: Details) -> None:
    logger = start(probe)
    logger.log_metrics({"util": 97.0}, 500, "ray", "ray/ray_step")
    logger.log_metrics({"loss": 0.5}, 1, "train")
    logger.close()
    stored = probe.stored()
    assert stored is not None
    assert {point["step"] for points in stored["status_details"]["metrics"].values() for point in points} == {1}
    assert details(probe)["step"] == 1


def test_a_nan_costs_only_its_own_name(probe: Probe, start: Start, series: Series) -> None:
    logger = start(probe)
    logger.log_metrics({"loss": 0.5, "reward/stddev": math.nan, "reward/mean": 0.25}, 1, "train")
    logger.close()
    assert series(probe, "train_reward/stddev") == {}
    assert series(probe, "train_reward/mean") == {1: 0.25}


def test_three_kinds_of_scalars_are_three_points(probe: Probe, start: Start, series: Series) -> None:
    logger = start(probe)
    logger.log_metrics({"loss": np.float32(0.5)}, 1, "train")
    logger.log_metrics({"loss": torch.tensor(0.25)}, 2, "train")
    logger.log_metrics({"loss": np.array(0.125)}, 3, "train")
    logger.close()
    assert series(probe, "train_loss") == {1: 0.5, 2: 0.25, 3: 0.125}


def test_an_infinite_loss_does_not_cost_the_reward(
    probe: Probe, start: Start, series: Series, details: Details
) -> None:
    logger = start(probe)
    logger.log_metrics({"loss": math.inf, "reward": 0.75}, 1, "train")
    logger.close()
    assert series(probe, "train_reward") == {1: 0.75}
    assert series(probe, "train_loss") == {}
    assert details(probe)["step"] == 1
    assert "train_loss" not in details(probe)


def test_a_validation_that_is_the_first_call_ever_is_stored(probe: Probe, start: Start, series: Series) -> None:
    logger = start(probe, 10, 1, 5)
    logger.log_metrics({"accuracy": 0.5}, 0, "validation")
    logger.log_hyperparams({"grpo": {"max_num_steps": 10}})
    logger.close()
    assert series(probe, "val_accuracy") == {0: 0.5}


def test_a_resumed_process_numbers_epochs_as_the_first_one(probe: Probe, start: Start) -> None:
    logger = start(probe, 20, 2, steps_per_epoch=10)
    logger.log_metrics({"loss": 1.0}, 10, "train")
    logger.log_metrics({"loss": 1.0}, 11, "train")
    logger.close()
    stored = probe.stored()
    assert stored is not None
    assert [(p["step"], p["epoch"]) for p in stored["status_details"]["metrics"]["train_loss"]] == [(10, 1), (11, 2)]


def test_a_step_that_is_logged_again_after_a_resume_has_its_new_value(
    probe: Probe, start: Start, series: Series
) -> None:
    first = start(probe)
    for step in range(1, 6):
        first.log_metrics({"loss": float(step)}, step, "train")
    first.close()
    second = start(probe)
    second.log_metrics({"loss": 50.0}, 5, "train")
    second.log_metrics({"loss": 60.0}, 6, "train")
    second.close()
    assert series(probe, "train_loss") == {1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0, 5: 50.0, 6: 60.0}


def test_a_payload_that_was_refused_once_is_restored(
    probe: Probe, start: Start, series: Series, caplog: pytest.LogCaptureFixture
) -> None:
    logger = start(probe)
    probe.faults.arm(Fault("answer", 413, methods=("PUT", "POST"), times=1))
    with caplog.at_level(logging.WARNING):
        for step in range(1, 4):
            logger.log_metrics({"loss": float(step)}, step, "train")
        logger.close()
    assert series(probe, "train_loss") == {1: 1.0, 2: 2.0, 3: 3.0}
    assert "413" in caplog.text


def test_an_interval_longer_than_the_run_loses_nothing(probe: Probe, start: Start, series: Series) -> None:
    logger = start(probe, 1000, 1, 100)
    for step in range(1, 4):
        logger.log_metrics({"loss": float(step)}, step, "train")
    logger.log_metrics({"accuracy": 0.5}, 3, "validation")
    logger.close()
    assert len(series(probe, "train_loss")) + len(series(probe, "val_accuracy")) == 4


def test_a_slow_service_does_not_slow_the_loop(appending: Probe, start: Start, series: Series) -> None:
    appending.faults.arm(Fault("delay", seconds=1.0))
    logger = start(appending, 1000)
    began = time.monotonic()
    for step in range(1, 1001):
        logger.log_metrics({"loss": float(step), "lr": 1e-5}, step, "train")
    blocked_s = time.monotonic() - began
    logger.close()
    assert blocked_s < 1.0, "a single wait for the service would take as long"
    assert len(series(appending, "train_loss")) == 1000


def test_only_rank_0_reports(probe: Probe, start: Start, series: Series) -> None:
    for rank in range(3):
        logger = start(probe, rank=rank)
        logger.log_hyperparams({})
        logger.log_metrics({"loss": float(rank)}, 1, "train")
        logger.close()
    assert series(probe, "train_loss") == {1: 0.0}
