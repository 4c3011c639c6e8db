"""The runner: a process around the driver's, which keeps the driver's curves to the very end."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from contracts.metrics_wire.waiting import holds_within
from impl.metrics_wire.adapter import logger as reference
from impl.metrics_wire.reporter import JobsServiceProgressReporter
from impl.metrics_wire.runner import TrainingRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from contracts.metrics_wire.probe import Probe

    Series = Callable[[Probe, str], dict[int, Any]]

#: A report is due every second step: step 3 waits when the end comes.
SCHEDULE = {"max_steps": 100, "num_epochs": 1, "val_period": 20, "steps_per_epoch": None}
LOSSES = {1: 0.1, 2: 0.2, 3: 0.3}


@pytest.fixture
def reporter(probe: Probe) -> Iterator[JobsServiceProgressReporter]:
    reporter = JobsServiceProgressReporter(probe.task_url())
    yield reporter
    reporter.close()


def command(probe: Probe, end: str, folder: Path) -> list[str]:
    calls: list[dict[str, Any]] = [
        {"call": "log_metrics", "metrics": {"loss": value}, "step": step, "prefix": "train"}
        for step, value in LOSSES.items()
    ]
    return reference().driver_command(probe.task_url(), SCHEDULE, [*calls, {"call": end}], folder)


def task(probe: Probe) -> dict[str, Any]:
    stored = probe.stored()
    assert stored is not None
    return stored


def test_a_training_that_succeeds_keeps_its_curves(
    probe: Probe, reporter: JobsServiceProgressReporter, series: Series, tmp_path: Path
) -> None:
    seen: list[str] = []
    runner = TrainingRunner(
        reporter,
        command(probe, "return", tmp_path),
        process_checkpoint=lambda: seen.append(task(probe)["status_details"]["phase"]),
    )
    assert runner.run() == 0
    assert seen == ["processing_checkpoint"]
    assert series(probe, "train_loss") == LOSSES
    assert (task(probe)["status"], task(probe)["status_details"]["phase"]) == ("completed", "completed")
    phases = [request.json["status_details"].get("phase") for request in probe.requests if request.method == "PUT"]
    assert phases[0] == "compiling_config"


def test_a_training_that_fails_keeps_its_curves_and_tells_why(
    probe: Probe, reporter: JobsServiceProgressReporter, series: Series, tmp_path: Path
) -> None:
    assert TrainingRunner(reporter, command(probe, "raise", tmp_path)).run() == 1
    assert series(probe, "train_loss") == LOSSES
    assert task(probe)["status"] == "error"
    assert task(probe)["error_details"]["exit_status"] == 1
    assert "the training failed, as the script says" in task(probe)["error_stack"]


def test_a_checkpoint_that_cannot_be_processed_is_an_error(
    probe: Probe, reporter: JobsServiceProgressReporter, series: Series, tmp_path: Path
) -> None:
    def process_checkpoint() -> NoReturn:
        raise OSError("disk full")

    runner = TrainingRunner(reporter, command(probe, "return", tmp_path), process_checkpoint=process_checkpoint)
    with pytest.raises(OSError, match="disk full"):
        runner.run()
    assert task(probe)["status"] == "error"
    assert series(probe, "train_loss") == LOSSES


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_forwarded_and_the_driver_closes(
    replacing: Probe, series: Series, tmp_path: Path, signum: signal.Signals
) -> None:
    reporter = JobsServiceProgressReporter(replacing.task_url())
    runner = TrainingRunner(reporter, command(replacing, "wait", tmp_path))

    def stop_when_it_trains() -> None:
        assert holds_within(30.0, lambda: bool(series(replacing, "train_loss")))
        os.kill(os.getpid(), signum)

    thread = threading.Thread(target=stop_when_it_trains)
    thread.start()
    status = runner.run()
    thread.join()
    reporter.close()
    assert status == 128 + signum
    assert task(replacing)["status"] == "cancelled"
    assert series(replacing, "train_loss") == LOSSES


def test_a_driver_that_cannot_be_started_is_an_error(probe: Probe, reporter: JobsServiceProgressReporter) -> None:
    with pytest.raises(FileNotFoundError):
        TrainingRunner(reporter, ["/no/such/driver"]).run()
    assert task(probe)["status"] == "error"
    assert "FileNotFoundError" in task(probe)["error_stack"]


def test_the_drivers_stderr_is_passed_on(
    probe: Probe, reporter: JobsServiceProgressReporter, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import sys; sys.stderr.write('line\\n' * 100); sys.exit(7)"
    assert TrainingRunner(reporter, [sys.executable, "-c", code]).run() == 7
    assert capsys.readouterr().err.count("line") == 100
    assert task(probe)["error_stack"].count("line") == 60


def test_what_is_no_text_in_stderr_stops_nothing(probe: Probe, reporter: JobsServiceProgressReporter) -> None:
    code = "import sys; sys.stderr.buffer.write(b'\\xff bad\\n' + b'x' * 200_000 + b'\\n'); sys.exit(7)"
    assert TrainingRunner(reporter, [sys.executable, "-c", code]).run() == 7
    assert "\\xff bad" in task(probe)["error_stack"]


def test_a_process_that_outlives_the_driver_does_not_hold_the_report_up(
    probe: Probe, reporter: JobsServiceProgressReporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("impl.metrics_wire.runner._LAST_WORDS_S", 0.5)
    left = "import sys, time; time.sleep(20); sys.stderr.write('outlived')"
    code = (
        "import os, signal, subprocess, sys\n"
        f"left = subprocess.Popen([sys.executable, '-c', {left!r}])\n"
        "os.write(2, f'{left.pid}\\n'.encode())\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert TrainingRunner(reporter, [sys.executable, "-c", code]).run() == 128 + signal.SIGKILL
    stack = task(probe)["error_stack"]
    assert task(probe)["status"] == "error"
    assert "outlived" not in stack
    os.kill(int(stack), signal.SIGKILL)


def test_an_ignored_interrupt_is_not_forwarded(probe: Probe, reporter: JobsServiceProgressReporter) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = "import os, signal, sys; os.kill(os.getppid(), signal.SIGINT); sys.exit(7)"
        assert TrainingRunner(reporter, [sys.executable, "-c", code]).run() == 7
    finally:
        signal.signal(signal.SIGINT, before)
    assert task(probe)["status"] == "error"


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_job_that_is_stopped_after_its_training_is_cancelled(
    replacing: Probe, series: Series, tmp_path: Path, signum: signal.Signals
) -> None:
    reporter = JobsServiceProgressReporter(replacing.task_url())
    ends: list[str] = []

    def process_checkpoint() -> None:
        signal.raise_signal(signum)
        ends.append("processed")

    runner = TrainingRunner(reporter, command(replacing, "return", tmp_path), process_checkpoint=process_checkpoint)
    assert runner.run() == 128 + signum
    reporter.close()
    assert ends == []
    assert task(replacing)["status"] == "cancelled"
    assert series(replacing, "train_loss") == LOSSES
