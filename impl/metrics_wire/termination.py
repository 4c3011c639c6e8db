"""SIGTERM as an exception, so that a run that is told to stop still runs its ``finally``."""

from __future__ import annotations

import signal
import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import FrameType, TracebackType

_MAIN = threading.main_thread


class Termination:
    """While entered, SIGTERM raises `SystemExit` in the main thread, once.

    From `shielded` on a signal waits until the end of the block: whoever is closing is not torn out of it.
    Outside the main thread, where Python delivers no signals, it does nothing.
    """

    def __init__(self) -> None:
        self._is_shielded = False
        self._has_come = False
        self._before: signal.Handlers | int | object = None

    def __enter__(self) -> Self:
        if threading.current_thread() is _MAIN():
            self._before = signal.signal(signal.SIGTERM, self._handle)
        return self

    def shielded(self) -> AbstractContextManager[None]:
        """From now on SIGTERM waits for the end of the block. It reads as what is done under it."""
        self._is_shielded = True
        return nullcontext()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)  # type: ignore[arg-type]  # it came from signal.signal
        if self._has_come and error is None:
            raise SystemExit(128 + signal.SIGTERM)

    def _handle(self, signum: int, _frame: FrameType | None) -> None:
        self._has_come = True
        if not self._is_shielded:
            self._is_shielded = True
            raise SystemExit(128 + signum)
