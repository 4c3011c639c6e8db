"""The logger as a backend of NeMo-RL's composite logger, and what a loop may throw at it."""

from __future__ import annotations

import logging
import math
import multiprocessing
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from contracts.metrics_wire.composite import Composite
from contracts.metrics_wire.probe import Fault, Probe
from contracts.metrics_wire.waiting import holds_within
from impl.metrics_wire.logger import NemoRLLogger
from impl.metrics_wire.progress import DpoTrainingProgressCallback, GrpoTrainingProgressCallback
from impl.metrics_wire.reporter import JobsServiceProgressReporter

if TYPE_CHECKING:
    from collections.abc import Callable

    Start = Callable[..., NemoRLLogger]
    Series = Callable[[Probe, str], dict[int, Any]]
    Details = Callable[[Probe], dict[str, Any]]


def test_it_is_called_and_ended_as_a_backend(probe: Probe, start: Start, series: Series) -> None:
    logger, composite = start(probe), Composite()
    composite.loggers.append(logger)
    composite.log_hyperparams({"grpo": {"max_num_steps": 23}})
    composite.log_metrics({"loss": 0.5}, 1, "train")
    composite.log_histogram([1.0, 2.0], 1, "train/advantages")
    composite.log_plot(object(), 1, "train/plot")
    composite.finish()
    composite.log_metrics({"util": 1.0}, 500, "ray")
    composite.log_metrics({"loss": 9.9}, 2, "train")
    composite.finish()
    logger.close()
    assert series(probe, "train_loss") == {1: 0.5}


def test_finish_and_close_are_the_same_and_end_the_thread(probe: Probe, start: Start) -> None:
    assert NemoRLLogger.finish is NemoRLLogger.close
    before = threading.active_count()
    logger = start(probe)
    logger.log_metrics({"loss": 0.5}, 1, "train")
    logger.close()
    assert holds_within(20.0, lambda: sum(each.name == "metrics-sender" for each in threading.enumerate()) == 0)
    count = len(probe.requests)
    logger.finish()
    logger.__del__() if hasattr(logger, "__del__") else logger.callback.__del__()
    assert len(probe.requests) == count
    assert before >= 1


def test_a_forgotten_logger_delivers_when_it_is_collected(probe: Probe, series: Series) -> None:
    reporter = JobsServiceProgressReporter(probe.task_url())
    logger = NemoRLLogger.for_schedule(1000, 1, 1000, reporter=reporter)
    logger.log_metrics({"loss": 0.5}, 1, "train")
    del logger
    assert series(probe, "train_loss") == {1: 0.5}


def test_the_callers_dict_is_neither_kept_nor_changed(probe: Probe, start: Start, series: Series) -> None:
    logger = start(probe)
    metrics: dict[str, Any] = {"loss": np.float32(0.5), "nested": {0: [1]}, "accuracy": math.nan}
    before = dict(metrics)
    logger.log_metrics(metrics, 1, "train")
    assert metrics.keys() == before.keys()
    assert metrics["nested"] is before["nested"]
    metrics["loss"] = 99.0
    metrics["late"] = 1.0
    logger.close()
    assert series(probe, "train_loss") == {1: 0.5}
    assert series(probe, "train_late") == {}


BAD_CALLS: dict[str, tuple[Any, Any, Any]] = {
    "negative step": ({"loss": 1.0}, -1, "train"),
    "fractional step": ({"loss": 1.0}, 1.5, "train"),
    "huge step": ({"loss": 1.0}, 10**400, "train"),
    "step beyond JSON's integers": ({"loss": 1.0}, 2**60, "train"),
    "NaN step": ({"loss": 1.0}, math.nan, "validation"),
    "no step": ({"loss": 1.0}, None, "timing/train"),
    "no dict": ([1, 2], 1, "train"),
    "no prefix's type": ({"loss": 1.0}, 1, 7),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_bad_call_is_survived_with_a_word(
    probe: Probe, start: Start, series: Series, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    logger = start(probe)
    with caplog.at_level(logging.WARNING):
        logger.log_metrics(*BAD_CALLS[name])
    assert caplog.records, "it was survived in silence"
    logger.log_metrics({"loss": 0.5}, 1, "train")
    logger.close()
    assert series(probe, "train_loss") == {1: 0.5}


def test_bad_names_and_values_cost_only_themselves(
    probe: Probe, start: Start, series: Series, details: Details, caplog: pytest.LogCaptureFixture
) -> None:
    logger = start(probe)
    metrics = {
        "loss": 0.5,
        "metrics": 1,
        "step": 99,
        "phase": 2,
        "train_loss": 77.0,
        7: 1.0,
        ("a", "b"): 1.0,
        "huge": 10**400,
        "\ud800": 1.0,
    }
    with caplog.at_level(logging.WARNING):
        logger.log_metrics(metrics, 3, "train")
    logger.close()
    assert series(probe, "train_loss") == {3: 0.5}
    assert [series(probe, f"train_{name}") for name in ("metrics", "step", "phase")] == [{3: 1}, {3: 99}, {3: 2}]
    assert (details(probe)["step"], details(probe)["phase"], details(probe)["train_loss"]) == (3, "training", 0.5)
    for name in ("7", "('a', 'b')", "huge", "\\ud800"):
        assert name in caplog.text


def test_integral_float_steps_are_integers(probe: Probe, start: Start, series: Series) -> None:
    logger = start(probe)
    logger.log_metrics({"loss": 0.5}, 2.0, "train")
    logger.close()
    assert series(probe, "train_loss") == {2: 0.5}


def test_a_rollout_is_neither_lost_nor_in_the_way(probe: Probe, start: Start, series: Series, details: Details) -> None:
    logger = start(probe)
    logger.log_metrics({"loss": 0.5, "reward": 1.0}, 1, "train")
    logger.log_metrics({"total_turns": 128}, 2, "train")
    logger.log_metrics({"accuracy": 0.5}, 2, "validation")
    logger.log_metrics({"loss": 0.25, "reward": 2.0}, 2, "train")
    assert holds_within(20.0, lambda: series(probe, "train_loss") == {1: 0.5, 2: 0.25})
    logger.log_metrics({"total_turns": 256}, 3, "train")
    logger.callback.report_checkpoint_saved(2, "/ckpt/2")
    assert holds_within(20.0, lambda: details(probe).get("phase") == "checkpoint_saved")
    assert (details(probe)["step"], details(probe)["train_loss"]) == (2, 0.25), "the rollout took the step's place"
    logger.close()
    assert series(probe, "train_total_turns") == {2: 128, 3: 256}


def test_steps_without_any_loss_are_reported(probe: Probe, start: Start, series: Series, details: Details) -> None:
    logger = start(probe, 4)
    for step in (1, 2):
        logger.log_metrics({"total_turns": 1}, step, "train")
        logger.log_metrics({"critic/loss": 0.5}, step, "train")
        logger.log_metrics({"generation": 1.0}, step, "timing/train")
        assert holds_within(20.0, lambda step=step: details(probe).get("step") == step)  # type: ignore[misc]  # bound at once
    assert holds_within(20.0, lambda: series(probe, "train_critic/loss") == {1: 0.5, 2: 0.5})


def test_a_validation_is_not_withheld(probe: Probe, start: Start, series: Series, details: Details) -> None:
    logger = start(probe, 10_000, 1, 1000)
    logger.log_metrics({"loss": 0.5}, 1, "train")
    logger.log_metrics({"accuracy": 0.5}, 1, "validation")
    assert holds_within(20.0, lambda: series(probe, "val_accuracy") == {1: 0.5})
    assert series(probe, "train_loss") == {1: 0.5}, "what waits goes along"
    assert details(probe)["phase"] == "validation"
    assert "val_loss" not in details(probe)


def test_points_that_nobody_asks_for_go_after_a_while(probe: Probe, series: Series) -> None:
    reporter = JobsServiceProgressReporter(probe.task_url())
    callback = GrpoTrainingProgressCallback(
        reporter, NemoRLLogger.for_schedule(1000, 1, 1000, reporter=reporter).callback.schedule, freshness_s=0.05
    )
    callback.report_train_step(1, 0.5)
    assert holds_within(20.0, lambda: series(probe, "train_loss") == {1: 0.5})
    callback.close()


def test_the_backend_is_the_subclasss_own(probe: Probe, start: Start, details: Details) -> None:
    start(probe).close()
    logger = start(probe)
    logger.log_hyperparams({})
    logger.close()
    assert "backend" not in details(probe)
    for callback in (GrpoTrainingProgressCallback, DpoTrainingProgressCallback):
        reporter = JobsServiceProgressReporter(probe.task_url())
        other = NemoRLLogger.for_schedule(1, 1, 0, reporter=reporter, callback_class=callback)
        other.log_hyperparams({})
        other.close()
        assert details(probe)["backend"] == callback.backend


def test_close_keeps_its_deadline_and_says_what_is_left(probe: Probe, caplog: pytest.LogCaptureFixture) -> None:
    probe.faults.arm(Fault("delay", seconds=5.0))
    reporter = JobsServiceProgressReporter(probe.task_url())
    schedule = NemoRLLogger.for_schedule(10, 1, 0, reporter=reporter).callback.schedule
    callback = GrpoTrainingProgressCallback(reporter, schedule, close_deadline_s=0.3)
    callback.report_train_step(1, 0.5, reward=1.0)
    began = time.monotonic()
    assert callback.close() is False
    assert time.monotonic() - began < 3.0
    assert "closed with 2 points and the last report not delivered within 0.3 s" in caplog.text


def test_a_reporter_outlives_the_logger_that_used_it(probe: Probe, series: Series) -> None:
    reporter = JobsServiceProgressReporter(probe.task_url())
    logger = NemoRLLogger.for_schedule(10, 1, 0, reporter=reporter)
    logger.log_metrics({"loss": 0.5}, 1, "train")
    logger.close()
    assert reporter.report_completed()
    reporter.close()
    assert series(probe, "train_loss") == {1: 0.5}


def test_a_process_that_forgets_to_close_still_delivers(probe: Probe, series: Series) -> None:
    code = (
        "import sys\n"
        "from impl.metrics_wire.logger import NemoRLLogger\n"
        "from impl.metrics_wire.reporter import JobsServiceProgressReporter\n"
        "logger = NemoRLLogger.for_schedule(1000, 1, 1000, reporter=JobsServiceProgressReporter(sys.argv[1]))\n"
        "logger.log_metrics({'loss': 0.5}, 1, 'train')\n"
        "keep = [logger]\nkeep.append(keep)\n"
    )
    subprocess.run([sys.executable, "-c", code, probe.task_url()], check=True, timeout=60)  # noqa: S603 - our own code
    assert series(probe, "train_loss") == {1: 0.5}


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12 warns of any fork beside a thread
def test_a_forked_child_delivers_nothing(probe: Probe, start: Start, series: Series) -> None:
    logger = start(probe, 1000, 1, 1000)
    logger.log_metrics({"loss": 0.5}, 1, "train")

    def child() -> None:
        logger.log_metrics({"loss": 9.0}, 2, "train")
        logger.close()

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(30)
    assert process.exitcode == 0
    logger.close()
    assert series(probe, "train_loss") == {1: 0.5}


def test_nothing_of_nemo_rl_or_torch_is_imported() -> None:
    code = (
        "import sys, impl.metrics_wire.adapter; print(sorted({'nemo_rl', 'torch', 'numpy', 'ray'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)  # noqa: S603 - our own code
    assert done.stdout.strip() == "[]"


def test_sets_in_another_order_after_a_resume_keep_their_series(probe: Probe, start: Start, series: Series) -> None:
    first = start(probe)
    first.log_metrics({"loss": 0.5}, 1, "validation-A")
    first.log_metrics({"loss": 0.25}, 1, "validation-B")
    first.close()
    probe.faults.arm(Fault("delay", seconds=0.3, methods=("GET",), times=1))
    second = start(probe)
    second.log_metrics({"loss": 0.75, "margin": 1}, 2, "validation-B")
    second.log_metrics({"loss": 1.5}, 2, "validation-A")
    second.close()
    assert series(probe, "val_loss") == {1: 0.5, 2: 1.5}
    assert series(probe, "val_@B/loss") == {1: 0.25, 2: 0.75}
    assert series(probe, "val_@B/margin") == {2: 1}
    assert series(probe, "val_margin") == {}
