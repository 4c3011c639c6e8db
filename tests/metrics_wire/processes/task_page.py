"""What the page of a task shows, read back from its tables and from its drawing."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx

if TYPE_CHECKING:
    from chromium import Chromium

    Series = dict[str, list[tuple[int, int, float | int]]]

#: What two decimals of a place, and of the two places that the axis is known by, can be off by together.
PIXELS = 0.06

#: By how much of the way to the next tick the text of one may be rounded.
_ROUNDED = Fraction(3, 10)
_MINUS = "\u2212"

_OPEN = "for (const each of document.querySelectorAll('details')) each.open = true"
_FACTS = """
return [...document.querySelectorAll('#facts div')].map((fact) => [...fact.children].map((part) => part.textContent))
"""
_TABLES = """
return [...document.querySelectorAll('.panel table')].map((table) => ({
  series: [...table.querySelectorAll('th[data-series]')].map((cell) => cell.dataset.series),
  rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)),
}))
"""
_DRAWN = """
const ticks = (plot, axis) => [...plot.querySelectorAll(`.grid path.${axis}`)].map(
  (tick) => [Number(tick.dataset.value), tick.getAttribute('d'), tick.nextSibling.textContent]);
return [...document.querySelectorAll('.plot')].map((plot) => ({
  x: ticks(plot, 'x'), y: ticks(plot, 'y'),
  lines: [...plot.querySelectorAll('.line')].map((line) => [line.dataset.series, line.getAttribute('d')]),
  dots: [...plot.querySelectorAll('.dots')].map((dots) => [dots.dataset.series, dots.getAttribute('d')]),
}))
"""


class Axis(NamedTuple):
    """Where a number lies on a drawn axis, as its own ticks tell."""

    first: tuple[Fraction, Fraction]
    last: tuple[Fraction, Fraction]

    def place(self, value: float) -> float:
        """The pixel of a number."""
        (low, at), (high, until) = self.first, self.last
        return float(at + (Fraction(value) - low) * (until - at) / (high - low))


class Curve(NamedTuple):
    """A drawn series: its points in pixels, run by run, and those that are marked."""

    x: Axis
    y: Axis
    runs: list[list[tuple[float, float]]]
    dots: list[tuple[float, float]]


def stored(task_url: str, token: str = "") -> tuple[dict[str, Any], Series]:
    """The task as the service answers it, and its series that have points."""
    task = httpx.get(task_url, auth=("", token) if token else None).raise_for_status().json()
    metrics = task["status_details"].get("metrics", {})
    of = {name: [(each["step"], each["epoch"], each["value"]) for each in points] for name, points in metrics.items()}
    return task, {name: points for name, points in of.items() if points}


class TaskPage:
    """The page of one task in a browser.

    Args:
        browser: The browser.
        task_url: URL of the task at the service's API.
    """

    def __init__(self, browser: Chromium, task_url: str) -> None:
        self.browser = browser
        self.task_url = task_url
        self.url = task_url.replace("/apis/jobs/v2", "")

    def open(self, width: int = 1200, scheme: str = "light") -> None:
        """Load the page."""
        self.browser.open(self.url, width, scheme=scheme)

    def status(self) -> str:
        """The task's status."""
        return str(self.browser.run("return document.getElementById('status').textContent"))

    def fact(self, name: str) -> str | None:
        """What stands beside a name at the top."""
        return dict(self.browser.run(_FACTS)).get(name)

    def text(self) -> str:
        """Everything that can be read."""
        return str(self.browser.run("return document.body.innerText"))

    def tables(self) -> Series:
        """The values in the tables, which are opened."""
        self.browser.run(_OPEN)
        # They are filled by an event that follows.
        tables = self.browser.wait(
            lambda: self.browser.run(_TABLES), lambda tables: all(table["rows"] for table in tables)
        )
        shown: Series = {}
        for table in tables:
            for step, epoch, *values in table["rows"]:
                for name, value in zip(table["series"], values, strict=True):
                    if value:
                        shown.setdefault(name, []).append((int(step), int(epoch), _number(value)))
        return shown

    def wait_for(self, wanted: Series) -> Series:
        """The values in the tables, as soon as they are those, or after a while."""
        shown: Series = self.browser.wait(self.tables, lambda shown: shown == wanted)
        return shown

    def drawn(self) -> dict[str, Curve]:
        """The curves of all panels."""
        curves: dict[str, Curve] = {}
        for plot in self.browser.run(_DRAWN):
            x, y = (_axis(plot[axis], axis) for axis in "xy")
            dots = dict(plot["dots"])
            for name, path in plot["lines"]:
                runs = [_points(run) for run in path.split("M")[1:]]
                curves[name] = Curve(x, y, runs, [_points(dot)[0] for dot in dots[name].split("M")[1:]])
        return curves

    def misdrawn(self, wanted: Series) -> list[str]:
        """In what the curves differ from the points that they should show."""
        curves = self.drawn()
        faults = [f"{name} is drawn and has no points" for name in curves.keys() - wanted.keys()]
        for name, points in wanted.items():
            if name not in curves:
                faults.append(f"{name} is not drawn")
                continue
            curve = curves[name]
            placed = [place for run in curve.runs for place in run]
            if len(placed) != len(points):
                faults.append(f"{name} has {len(points)} points, {len(placed)} are drawn")
                continue
            for (step, _, value), (x, y) in zip(points, placed, strict=True):
                if abs(curve.x.place(step) - x) > PIXELS or abs(curve.y.place(value) - y) > PIXELS:
                    faults.append(f"{name} at step {step}, {value}, is drawn at {x}, {y}")
        return faults


def _number(text: str) -> float | int:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _axis(ticks: list[tuple[float, str, str]], axis: str) -> Axis:
    """The axis that the ticks are on, which say what they stand at, and go to the right or upwards."""
    places = [(Fraction(value), Fraction(re.findall(r"[-\d.]+", path)["xy".index(axis)])) for value, path, _ in ticks]
    apart = places[1][0] - places[0][0]
    for (value, _), (_, _, label) in zip(places, ticks, strict=True):
        said = Fraction(label.replace(_MINUS, "-"))
        assert abs(said - value) <= apart * _ROUNDED, f"the {axis} axis says {label} at {float(value)}"
    forwards = places[-1][1] - places[0][1]
    assert (forwards > 0) == (axis == "x"), f"the {axis} axis goes the wrong way"
    return Axis(places[0], places[-1])


def _points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (point.split(" ") for point in path.removesuffix("h0").split("L"))]
