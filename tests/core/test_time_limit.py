from __future__ import annotations

import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest

from contracts.limit import TimeLimitExceeded, time_limit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


@pytest.fixture
def fired() -> Iterator[list[int]]:
    """A handler of someone else's; it notes each alarm."""
    seen: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        seen.append(number)

    before = signal.signal(signal.SIGALRM, note)
    yield seen
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def wait_for(seen: list[int]) -> None:
    end = time.monotonic() + 10
    while not seen and time.monotonic() < end:
        time.sleep(0.01)


def test_a_block_within_its_limit_is_left_alone() -> None:
    with time_limit(60):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_a_sleep_is_interrupted() -> None:
    with pytest.raises(TimeLimitExceeded), time_limit(0.05):
        time.sleep(60)


def test_a_wait_on_another_thread_is_interrupted() -> None:
    with pytest.raises(TimeLimitExceeded), time_limit(0.05):
        threading.Event().wait(60)


def test_it_passes_through_handlers_of_ordinary_errors() -> None:
    def stubborn() -> None:
        while True:
            try:
                time.sleep(60)
            except Exception:  # noqa: BLE001, S112 - what an adapter may do
                continue

    with pytest.raises(TimeLimitExceeded), time_limit(0.05):
        stubborn()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, TimeLimitExceeded])
def test_handler_and_timer_are_put_back_whatever_happens(fired: list[int], error: type[BaseException]) -> None:
    handler = signal.getsignal(signal.SIGALRM)
    with pytest.raises(error), time_limit(60):
        raise error
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert fired == []


def test_a_running_timer_is_put_back_less_the_time_that_passed(fired: list[int]) -> None:
    signal.setitimer(signal.ITIMER_REAL, 1000, 500)
    with time_limit(60):
        time.sleep(0.2)
    remaining, interval = signal.getitimer(signal.ITIMER_REAL)
    assert 900 < remaining <= 999.8
    assert interval == 500
    assert fired == []


def test_a_timer_that_came_due_inside_fires_after_the_block(fired: list[int]) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with time_limit(60):
        time.sleep(0.15)
        assert fired == []
    wait_for(fired)
    assert fired == [signal.SIGALRM]


def test_an_inner_limit_does_not_lift_the_outer_one() -> None:
    def nested() -> None:
        with pytest.raises(TimeLimitExceeded), time_limit(0.05):
            time.sleep(60)
        time.sleep(60)

    with pytest.raises(TimeLimitExceeded), time_limit(0.2):
        nested()


def test_outside_the_main_thread_there_is_no_limit() -> None:
    ended = []

    def work() -> None:
        with time_limit(0.01):
            time.sleep(0.1)
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert ended == [True]
