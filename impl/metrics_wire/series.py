"""The observed series: one point for each series and step, in the form in which they go over the wire."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

#: Always present on the wire, empty if nothing was observed: a chart reads them without asking.
LOSS_SERIES = ("train_loss", "val_loss")


class Point(NamedTuple):
    """One observation.

    Attributes:
        step: Train step, from 0.
        epoch: Epoch, from 1.
        value: Finite number.
    """

    step: int
    epoch: int
    value: float | int


class _Series:
    """Points of one curve by step. Each is kept as its JSON text, so that sending a long series is one join."""

    __slots__ = ("ascending", "newest", "points")

    def __init__(self) -> None:
        self.points: dict[int, str] = {}
        self.newest = -1
        self.ascending = True

    def put(self, step: int, text: str) -> int:
        """Add or replace the point of a step; the bytes by which the series grew."""
        before = self.points.get(step)
        if before is None and step < self.newest:
            self.ascending = False
        # An exception that a signal raises may come between any two lines: the mark is set before the point is.
        self.newest = max(self.newest, step)
        self.points[step] = text
        return len(text) + 1 if before is None else len(text) - len(before)

    def encoded(self) -> str:
        if not self.ascending:
            self.points = dict(sorted(self.points.items()))
            self.ascending = True
        return f"[{','.join(self.points.values())}]"


class SeriesStore:
    """All series of a task, and which of their points the service has not acknowledged. Safe between threads."""

    def __init__(self) -> None:
        # Reentrant: a signal handler may close the logger in the middle of a call.
        self._lock = threading.RLock()
        self._series: dict[str, _Series] = {name: _Series() for name in LOSS_SERIES}
        self._unsent: dict[str, dict[int, str]] = {}
        self._taken: dict[str, dict[int, str]] = {}
        self._size = 0

    def __len__(self) -> int:
        with self._lock:
            return sum(len(series.points) for series in self._series.values())

    @property
    def size(self) -> int:
        """Bytes of `encoded`, without the names."""
        return self._size

    @property
    def unsent_count(self) -> int:
        """Points that the service has not acknowledged, those on their way included."""
        with self._lock:
            return sum(map(len, (*self._unsent.values(), *self._taken.values())))

    def add(self, names: Iterable[str], step: int, epoch: int, values: Iterable[float | int]) -> None:
        """Add one point at ``step`` to each series of ``names``; the last value of a step wins."""
        start = f'{{"step":{step},"epoch":{epoch},"value":'
        with self._lock:
            for name, value in zip(names, values, strict=True):
                self._put(name, step, f"{start}{value!r}}}", is_new=True)

    def rename(self, new_name: Callable[[str], str]) -> None:
        """Give every series that has points the name that ``new_name`` makes of its own."""
        with self._lock:
            self._series = {new_name(name): series for name, series in self._series.items() if series.points}
            self._unsent = {new_name(name): points for name, points in self._unsent.items()}
            for name in LOSS_SERIES:
                self._series.setdefault(name, _Series())

    def values(self, name: str) -> dict[int, float | int]:
        """The values of one series by step."""
        with self._lock:
            series = self._series.get(name)
            return {step: json.loads(text)["value"] for step, text in series.points.items()} if series else {}

    def take_over(self, stored: Mapping[str, Iterable[Point]]) -> None:
        """Add what the service has stored already, except where this process has its own value."""
        with self._lock:
            for name, points in stored.items():
                own = self._series.setdefault(name, _Series())
                for step, epoch, value in points:
                    if step not in own.points:
                        self._put(name, step, f'{{"step":{step},"epoch":{epoch},"value":{value!r}}}', is_new=False)

    def encoded(self) -> str:
        """The whole of it as the JSON object ``{series: [{"step", "epoch", "value"}, ...]}``, steps ascending."""
        with self._lock:
            names = list(self._series)
        parts = []
        for name in names:
            with self._lock:  # taken anew for each series: the training thread is not kept out for the whole join
                parts.append(f"{json.dumps(name)}:{self._series[name].encoded()}")
        return f"{{{','.join(parts)}}}"

    def acknowledged_steps(self) -> dict[str, frozenset[int]]:
        """The steps of each series whose points the service has; series of which it has none are left out."""
        with self._lock:
            known = {
                name: frozenset(series.points.keys() - self._unsent.get(name, {}).keys())
                for name, series in self._series.items()
            }
        return {name: steps for name, steps in known.items() if steps or name in LOSS_SERIES}

    def take_unsent(self) -> dict[str, dict[int, str]]:
        """The points to send, as ``{series: {step: JSON text}}``. Whoever takes them calls `settle` afterwards."""
        with self._lock:
            self._taken, self._unsent = self._unsent, {}
            return self._taken

    def unacknowledge(self) -> None:
        """Make every point one to send, as if the service had none."""
        with self._lock:
            self._unsent = {name: dict(series.points) for name, series in self._series.items() if series.points}

    def settle(self, *failed: Mapping[str, Mapping[int, str]]) -> None:
        """The points that were taken are acknowledged, except those that failed: they are unsent once more.

        Where a newer value has come since, that one is sent instead.
        """
        with self._lock:
            for points in failed:
                for name, texts in points.items():
                    waiting = self._unsent.setdefault(name, {})
                    for step, text in texts.items():
                        waiting.setdefault(step, text)
            self._taken = {}

    def _put(self, name: str, step: int, text: str, *, is_new: bool) -> None:
        series = self._series.get(name)
        if series is None:
            series = self._series[name] = _Series()
        self._size += series.put(step, text)
        if is_new:
            self._unsent.setdefault(name, {})[step] = text
