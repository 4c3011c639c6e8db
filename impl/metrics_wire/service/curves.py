"""The curves of a task as a table of text: one line a series, with a sparkline over its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impl.metrics_wire.service.schemas import Point, Task

_LEVELS = "▁▂▃▄▅▆▇█"
_ASCII_LEVELS = "_.-=+*#@"
_LOSSES = ("train_loss", "val_loss")


def sparkline(points: Sequence[Point], width: int, *, ascii_only: bool = False) -> str:
    """Draw points over their steps: each letter is the mean of its share of the steps, a blank where it has none.

    Args:
        points: Points of one series, steps ascending.
        width: Letters that it has at most; a series of fewer steps has one for each.
        ascii_only: Whether only ASCII can be shown.
    """
    if not points:
        return ""
    levels = _ASCII_LEVELS if ascii_only else _LEVELS
    first, last = points[0]["step"], points[-1]["step"]
    width = min(width, last - first + 1)
    shares: list[list[float]] = [[] for _ in range(width)]
    for point in points:
        shares[(point["step"] - first) * width // (last - first + 1)].append(float(point["value"]))
    # Divided before they are added or subtracted: the result of that may be beyond a float.
    means = [sum(value / len(share) for value in share) / 2 if share else None for share in shares]
    known = [mean for mean in means if mean is not None]
    low, span = min(known), max(known) - min(known)
    top = len(levels) - 1
    return "".join(
        " " if mean is None else levels[round((mean - low) / span * top)] if span else levels[top // 2]
        for mean in means
    )


def heading(task: Task) -> str:
    """One line that says which task it is and how far it came."""
    details = task.status_details.model_extra or {}
    parts = [f"{task.workspace} / {task.job} / {task.step} / {task.task}", task.status]
    if isinstance(phase := details.get("phase"), str) and phase != task.status:
        parts.append(_printable(phase))
    if type(step := details.get("step")) is int:
        planned = details.get("max_steps")
        parts.append(f"step {step}" + (f" of {planned}" if type(planned) is int else ""))
    parts.append(task.updated_at)
    return "  ".join(parts)


def curves(task: Task, width: int, *, ascii_only: bool = False) -> Table:
    """A table of all series of a task; the losses come first.

    Args:
        task: The task.
        width: Letters of a sparkline.
        ascii_only: Whether only ASCII can be shown.
    """
    table = Table(box=box.ASCII2 if ascii_only else box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("series", overflow="fold")
    for name in ("points", "last step", "last", "least", "most"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("curve", no_wrap=True)
    metrics = task.status_details.metrics or {}
    for name in sorted(metrics, key=lambda each: (each not in _LOSSES, each)):
        points = metrics[name]
        values = [point["value"] for point in points]
        numbers = [f"{each:.5g}" for each in (values[-1], min(values), max(values))] if values else ["", "", ""]
        table.add_row(
            Text(_printable(name)),
            str(len(points)),
            str(points[-1]["step"]) if points else "",
            *numbers,
            Text(sparkline(points, width, ascii_only=ascii_only)),
        )
    return table


def _printable(name: str) -> str:
    """A name as a terminal may show it: one that came from elsewhere could move the cursor."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in name)
