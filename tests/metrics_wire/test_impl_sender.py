"""The sending thread beside whatever else runs in the process: signal handlers and other threads."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from contracts.metrics_wire.probe import Probe
    from impl.metrics_wire.logger import NemoRLLogger

    Start = Callable[..., NemoRLLogger]
    Series = Callable[[Probe, str], dict[int, Any]]


def test_a_signal_handler_may_close_in_the_middle_of_a_call(replacing: Probe) -> None:
    code = (
        "import signal, sys\n"
        "from impl.metrics_wire.callback import TrainingProgressCallback\n"
        "from impl.metrics_wire.logger import NemoRLLogger\n"
        "from impl.metrics_wire.reporter import JobsServiceProgressReporter\n"
        "from impl.metrics_wire.schedule import for_schedule\n"
        "reporter = JobsServiceProgressReporter(sys.argv[1])\n"
        "schedule = for_schedule(10, 1, 0)\n"
        "logger = NemoRLLogger(TrainingProgressCallback(reporter, schedule, close_deadline_s=0.5))\n"
        "logger.log_metrics({'loss': 0.5}, 1, 'train')\n"
        "signal.signal(signal.SIGUSR1, lambda *_: logger.close())\n"
        "def values():\n"
        "    signal.raise_signal(signal.SIGUSR1)\n"
        "    yield 1.0\n"
        "logger.callback._state.series.add(['train_x'], 2, 1, values())\n"
        "print('closed')\n"
    )
    command = [sys.executable, "-c", code, replacing.task_url()]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)  # noqa: S603 - our own code
    assert done.stdout == "closed\n"


def test_two_threads_that_log_first_at_once_start_one_sender(
    replacing: Probe, start: Start, series: Series, monkeypatch: pytest.MonkeyPatch
) -> None:
    senders: list[threading.Thread] = []
    both_have_looked = threading.Barrier(2)

    class Slow(threading.Thread):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            if self.name == "metrics-sender":
                senders.append(self)
                with contextlib.suppress(threading.BrokenBarrierError):
                    both_have_looked.wait(0.5)

    logger = start(replacing)
    trainers = [threading.Thread(target=logger.log_metrics, args=({"loss": 0.5}, step, "train")) for step in (1, 2)]
    monkeypatch.setattr(threading, "Thread", Slow)
    for trainer in trainers:
        trainer.start()
    for trainer in trainers:
        trainer.join()
    logger.close()
    assert len(senders) == 1
    assert series(replacing, "train_loss") == {1: 0.5, 2: 0.5}
