"""The run wrappers: the logger is attached, and closed whatever happened, before anything slow."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from contracts.metrics_wire.composite import Composite
from impl.metrics_wire.run import run_dpo, run_grpo

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.metrics_wire.probe import Probe
    from impl.metrics_wire.logger import NemoRLLogger

RUNS = pytest.mark.parametrize("run", [run_grpo, run_dpo], ids=["grpo", "dpo"])

ENDS: dict[str, BaseException] = {
    "exception": RuntimeError("CUDA out of memory"),
    "interrupt": KeyboardInterrupt(),
    "exit": SystemExit(3),
    "cancelled job": asyncio.CancelledError(),
}


@RUNS
def test_a_run_that_returns_is_closed(
    run: Any, probe: Probe, start: Callable[..., NemoRLLogger], series: Callable[[Probe, str], dict[int, Any]]
) -> None:
    composite, logger = Composite(), start(probe, 1000, 1, 1000)

    def train() -> str:
        composite.log_metrics({"loss": 0.5}, 1, "train")
        return "trained"

    assert run(train, composite, logger) == "trained"
    assert series(probe, "train_loss") == {1: 0.5}


@RUNS
@pytest.mark.parametrize("end", ENDS)
def test_a_run_that_ends_otherwise_is_closed_and_keeps_its_own_exception(
    run: Any,
    end: str,
    replacing: Probe,
    start: Callable[..., NemoRLLogger],
    series: Callable[[Probe, str], dict[int, Any]],
) -> None:
    composite, logger = Composite(), start(replacing, 1000, 1, 1000)

    def train() -> NoReturn:
        composite.log_metrics({"loss": 0.5}, 1, "train")
        raise ENDS[end]

    with pytest.raises(type(ENDS[end])) as caught:
        run(train, composite, logger)
    assert caught.value is ENDS[end]
    assert series(replacing, "train_loss") == {1: 0.5}


class Recorder:
    """A backend that tells when it was closed, and optionally is told to stop while it closes."""

    def __init__(self, events: list[str], *, signal_while_closing: bool = False) -> None:
        self.events = events
        self.signal_while_closing = signal_while_closing

    def close(self) -> None:
        if self.signal_while_closing:
            os.kill(os.getpid(), signal.SIGTERM)
        self.events.append("closed")


def test_grpo_closes_before_the_environments_and_shuts_all_of_them_down() -> None:
    events: list[str] = []

    def broken() -> NoReturn:
        events.append("broken")
        raise RuntimeError("the environment hangs")

    with pytest.raises(RuntimeError, match="the environment hangs"):
        run_grpo(lambda: None, Composite(), Recorder(events), [lambda: events.append("other"), broken])
    assert events == ["closed", "broken", "other"]


@RUNS
def test_sigterm_is_an_exit_and_the_handler_is_put_back(run: Any) -> None:
    events: list[str] = []
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as caught:
        run(lambda: os.kill(os.getpid(), signal.SIGTERM), Composite(), Recorder(events))
    assert caught.value.code == 128 + signal.SIGTERM
    assert events == ["closed"]
    assert signal.getsignal(signal.SIGTERM) is before


@RUNS
def test_sigterm_does_not_tear_a_closing_run_out_of_it(run: Any) -> None:
    events: list[str] = []
    with pytest.raises(SystemExit):
        run(lambda: None, Composite(), Recorder(events, signal_while_closing=True))
    assert events == ["closed"]


def test_sigterm_while_closing_does_not_replace_the_runs_own_exception() -> None:
    events: list[str] = []

    def train() -> NoReturn:
        raise ValueError("the run's own")

    with pytest.raises(ValueError, match="the run's own"):
        run_dpo(train, Composite(), Recorder(events, signal_while_closing=True))
    assert events == ["closed"]
