"""Waiting for what another thread does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_POLL_S = 0.005


def holds_within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Whether ``condition`` holds now or at some moment of the next ``seconds``; looks often, returns at once."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_S)
    return True
