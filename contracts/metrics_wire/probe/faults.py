"""Faults that the probe shows on demand."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Literal

#: ``answer``: an HTTP status instead of the request being carried out; ``garbage``: a 200 whose body is no JSON;
#: ``drop``: the connection ends without an answer; ``lose``: the request is carried out, then the connection ends.
Kind = Literal["answer", "garbage", "drop", "lose", "delay"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to requests instead of, or before, being carried out.

    Attributes:
        kind: Which fault.
        status: HTTP status of an ``answer``.
        seconds: Length of a ``delay``; a delayed request is carried out.
        methods: Methods that it strikes; empty for all.
        times: How many requests it strikes, ``None`` for every one until `Faults.clear`.
    """

    kind: Kind
    status: int = 503
    seconds: float = 0.0
    methods: tuple[str, ...] = ()
    times: int | None = None


class Faults:
    """The faults that are armed, in the order in which they strike. Safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._armed: list[tuple[Fault, int | None]] = []

    def arm(self, *faults: Fault) -> None:
        """Add faults after those that are armed."""
        with self._lock:
            self._armed += [(fault, fault.times) for fault in faults]

    def clear(self) -> None:
        """Disarm every fault."""
        with self._lock:
            self._armed.clear()

    def strike(self, method: str) -> Fault | None:
        """The fault for a request that has arrived; ``None`` if it is to be carried out."""
        with self._lock:
            for index, (fault, left) in enumerate(self._armed):
                if fault.methods and method not in fault.methods:
                    continue
                if left == 1:
                    del self._armed[index]
                elif left is not None:
                    self._armed[index] = (fault, left - 1)
                return fault
        return None
