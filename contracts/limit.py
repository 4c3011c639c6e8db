"""A limit on how long a check may take, so that an adapter that hangs ends as an error and not as a stuck CI job."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


#: Seconds to a timer of someone else's that came due inside a block; zero would disarm it.
_AT_ONCE = 1e-3


class TimeLimitExceeded(BaseException):
    """The block did not end within its limit."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeLimitExceeded` in the main thread if the block runs longer than ``seconds``.

    A real timer signal is used, since it also interrupts a wait on another thread or on a socket. Outside the main
    thread, or on a platform without that signal, there is no limit. A timer that was running is put back,
    less the time that has passed.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def expire(_signal: int, _frame: FrameType | None) -> None:
        raise TimeLimitExceeded

    handler = signal.signal(signal.SIGALRM, expire)
    begin = time.monotonic()
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        # Disarmed first: an alarm between the two handlers would reach the default one, which ends the process.
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if remaining:
            due = max(remaining - (time.monotonic() - begin), _AT_ONCE)
            signal.setitimer(signal.ITIMER_REAL, due, interval)
