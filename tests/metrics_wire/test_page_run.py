"""A run in front of a browser: driven, killed, resumed, finished. The page shows exactly what is stored."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from contracts.metrics_wire.waiting import holds_within
from impl.metrics_wire.adapter import logger as reference
from impl.metrics_wire.service.adapter import ServiceAdapter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chromium import Chromium
    from task_page import TaskPage

#: A report is due every second step.
SCHEDULE = {"max_steps": 40, "num_epochs": 2, "val_period": 20, "steps_per_epoch": None}
RUNNER = """
import sys
from impl.metrics_wire.reporter import JobsServiceProgressReporter
from impl.metrics_wire.runner import TrainingRunner
raise SystemExit(TrainingRunner(JobsServiceProgressReporter(sys.argv[1]), sys.argv[2:]).run())
"""


def loss(step: int, attempt: int) -> float:
    return 2 / (1 + step / 5) + attempt / 1000


def calls(first: int, last: int, attempt: int) -> list[dict[str, Any]]:
    """What a GRPO loop logs: validation every fifth step, the rollout's part of a step, and the step."""
    made = []
    for step in range(first, last + 1):
        if step % 5 == 0:
            made.append(({"accuracy": step / 50, "avg_length": 100 + step}, "validation", step))
            made.append(({"loss": loss(step, attempt) + 0.1}, "validation-held_out", step))
        made.append(({"reward": step / 40}, "train", step))
        train = {"loss": loss(step, attempt), "reward": step / 40, "lr": 3e-7, "grad_norm": 1.5}
        # A metric that is NaN at some steps is missing there.
        made.append((train if step not in {7, 8} else train | {"grad_norm": math.nan}, "train", step))
        made.append(({"generation": 20.25 + attempt}, "timing/train", step))
    return [{"call": "log_metrics", "metrics": each, "step": step, "prefix": prefix} for each, prefix, step in made]


@pytest.fixture(scope="module")
def service() -> Iterator[ServiceAdapter]:
    with ServiceAdapter("replace") as running:
        yield running


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start the runner of a job, whose driver logs some steps and then waits or ends."""
    runners: list[subprocess.Popen[bytes]] = []

    def build(task_url: str, steps: range, attempt: int, end: str) -> subprocess.Popen[bytes]:
        script = [*calls(steps[0], steps[-1], attempt), {"call": end}]
        driver = reference().driver_command(task_url, SCHEDULE, script, tmp_path)
        command = [sys.executable, "-c", RUNNER, task_url, *driver]
        runner = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - our own runner
        runners.append(runner)
        return runner

    yield build
    for runner in runners:
        kill(runner)


def drivers(runner: subprocess.Popen[bytes]) -> list[int]:
    return [
        int(pid) for each in Path(f"/proc/{runner.pid}/task").glob("*/children") for pid in each.read_text().split()
    ]


def kill(runner: subprocess.Popen[bytes]) -> None:
    """SIGKILL for the runner and its driver, as where a machine is lost."""
    if runner.poll() is None:
        driver = drivers(runner)
        runner.kill()
        for pid in driver:
            os.kill(pid, signal.SIGKILL)
    runner.wait()


def test_the_page_shows_a_run_that_is_killed_resumed_and_finished(
    browser: Chromium,
    service: ServiceAdapter,
    start: Callable[..., subprocess.Popen[bytes]],
    page_of: Callable[[ServiceAdapter, str], TaskPage],
    artefacts: Path,
) -> None:
    page = page_of(service, "killed-and-resumed")
    httpx.put(page.task_url, json={"status": "created"}).raise_for_status()
    page.open()
    assert page.status() == "created"
    assert "No values yet" in browser.wait(page.text, lambda text: "No values yet" in text)

    # The first attempt is drawn while it runs, in the page that was opened before; then its driver is killed.
    runner = start(page.task_url, range(1, 14), 1, "wait")
    stored_after(page, {step: loss(step, 1) for step in range(1, 14)})
    assert page.status() == "active"
    assert page.fact("step") == "13 of 40"
    assert page.fact("epoch") == "1 of 2"
    assert "No value: train at 7\u20138" in page.text()
    assert runner.poll() is None
    for pid in drivers(runner):
        os.kill(pid, signal.SIGKILL)
    assert runner.wait(60) == 128 + signal.SIGKILL
    assert browser.wait(page.status, lambda status: status == "error") == "error"
    assert "The training driver ended with exit status 137" in page.text()
    stored_after(page, {step: loss(step, 1) for step in range(1, 14)})
    browser.screenshot(artefacts / "job-page-failed-1200.png")

    # The second goes back to a checkpoint and logs some steps again; it is lost with its runner.
    second = {step: loss(step, 1 if step < 11 else 2) for step in range(1, 26)}
    runner = start(page.task_url, range(11, 26), 2, "wait")
    stored_after(page, second)
    assert page.status() == "active"
    kill(runner)
    stored_after(page, second)

    # The third comes to the end.
    runner = start(page.task_url, range(21, 41), 3, "return")
    assert runner.wait(60) == 0
    third = second | {step: loss(step, 3) for step in range(21, 41)}
    assert browser.wait(page.status, lambda status: status == "completed") == "completed"
    stored_after(page, third)
    assert page.fact("phase") == "completed"

    # Somebody who comes only now sees the same.
    for width in (400, 1200):
        page.open(width)
        stored_after(page, third)
        browser.run("for (const each of document.querySelectorAll('details')) each.open = false")
        browser.screenshot(artefacts / f"job-page-{width}.png")
    assert browser.console() == []
    assert {url for url in browser.requested() if not url.startswith(service.base_url)} == set()


def stored_after(page: TaskPage, losses: dict[int, float]) -> None:
    """Wait until these losses are stored, and see that the page shows all that is, in its tables and its curves."""
    from task_page import stored  # noqa: PLC0415 - importable since the conftest ran

    def stored_losses() -> dict[int, float | int]:
        return {step: value for step, _, value in stored(page.task_url)[1].get("train_loss", [])}

    assert holds_within(40.0, lambda: stored_losses() == losses), stored_losses()
    series = stored(page.task_url)[1]
    assert series.keys() >= {"train_reward", "val_accuracy", "val_@held_out/loss", "train_timing/generation"}
    assert page.wait_for(series) == series
    assert page.misdrawn(series) == []
    assert stored(page.task_url)[1] == series


def test_the_page_outlives_the_service(
    browser: Chromium, service: ServiceAdapter, page_of: Callable[[ServiceAdapter, str], TaskPage]
) -> None:
    from task_page import stored  # noqa: PLC0415 - importable since the conftest ran

    page = page_of(service, "interrupted")

    def report(value: float) -> None:
        details = {"metrics": {"train_loss": [{"step": 1, "epoch": 1, "value": value}]}}
        httpx.put(page.task_url, json={"status": "active", "status_details": details}).raise_for_status()

    report(0.5)
    page.open()
    first = stored(page.task_url)[1]
    assert page.wait_for(first) == first
    service.kill()
    said = browser.wait(page.text, lambda text: "no answer, what is shown may be old" in text)
    assert "no answer, what is shown may be old" in said
    assert page.tables() == first
    service.restart()
    report(0.25)
    second = {"train_loss": [(1, 1, 0.25)]}
    assert page.wait_for(second) == second
    assert "no answer" not in page.text()
    assert all("ERR_CONNECTION" in line or "ERR_EMPTY" in line for line in browser.console())


def test_a_service_that_hangs_is_told_from_one_that_is_live(
    browser: Chromium, service: ServiceAdapter, page_of: Callable[[ServiceAdapter, str], TaskPage]
) -> None:
    page = page_of(service, "hanging")
    httpx.put(page.task_url, json={"status": "active"}).raise_for_status()
    page.open()
    assert "live" in browser.wait(page.text, lambda text: "live" in text)
    # Half a minute in a page that nobody tests.
    browser.run("const timeout = AbortSignal.timeout; AbortSignal.timeout = () => timeout.call(AbortSignal, 500)")
    process = service._process  # noqa: SLF001 - a stopped process is no state that the contract asks for
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    try:
        assert "no answer" in browser.wait(page.text, lambda text: "no answer" in text)
    finally:
        process.send_signal(signal.SIGCONT)
    assert "live" in browser.wait(page.text, lambda text: "live" in text)
