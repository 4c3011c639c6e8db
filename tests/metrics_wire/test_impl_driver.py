"""Driver processes that are really killed: what they had logged is stored."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contracts.metrics_wire.waiting import holds_within
from impl.metrics_wire.adapter import logger as reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from contracts.metrics_wire.probe import Probe

    Series = Callable[[Probe, str], dict[int, Any]]
    Driver = Callable[..., "subprocess.Popen[str]"]

#: A report is due every tenth step only: step 13 waits when the end comes.
SCHEDULE = {"max_steps": 100, "num_epochs": 1, "val_period": 100, "steps_per_epoch": None}
STEPS = 13


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Driver]:
    """Start a driver that logs 13 steps, and wait until it has done so."""
    started: list[subprocess.Popen[str]] = []

    def build(probe: Probe, end: str, algorithm: str = "grpo") -> subprocess.Popen[str]:
        calls: list[dict[str, Any]] = [
            {"call": "log_metrics", "metrics": {"loss": step / 10, "lr": 1e-5}, "step": step, "prefix": "train"}
            for step in range(1, STEPS + 1)
        ]
        command = reference().driver_command(
            probe.task_url(), SCHEDULE, [*calls, {"call": end}], tmp_path, algorithm=algorithm
        )
        process = subprocess.Popen(  # noqa: S603 - our own driver
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path.cwd()
        )
        started.append(process)
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) == STEPS + 1:
                return process
        raise AssertionError(f"the driver ended early: {process.communicate()[1]}")

    yield build
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("algorithm", ["grpo", "dpo"])
@pytest.mark.parametrize(
    ("end", "signum", "status"),
    [
        ("return", None, 0),
        ("raise", None, 1),
        ("exit", None, 3),
        ("wait", signal.SIGTERM, 128 + signal.SIGTERM),
        ("wait", signal.SIGINT, -signal.SIGINT),
    ],
    ids=["return", "exception", "exit", "SIGTERM", "SIGINT"],
)
def test_everything_that_was_logged_is_stored(
    replacing: Probe, driver: Driver, series: Series, algorithm: str, end: str, signum: int | None, status: int
) -> None:
    process = driver(replacing, end, algorithm)
    if signum is not None:
        process.send_signal(signum)
    assert process.wait(60) == status
    assert sorted(series(replacing, "train_loss")) == list(range(1, STEPS + 1))


def test_after_sigkill_everything_that_was_acknowledged_is_stored(probe: Probe, driver: Driver, series: Series) -> None:
    process = driver(probe, "wait")
    assert holds_within(30.0, lambda: len(series(probe, "train_loss")) >= 10)
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    assert set(series(probe, "train_loss")) >= set(range(1, 11))
