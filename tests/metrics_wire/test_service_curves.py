"""The curves as text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from impl.metrics_wire.service.curves import curves, heading, sparkline
from impl.metrics_wire.service.schemas import Task


def points(*values: tuple[int, float]) -> list[Any]:
    return [{"step": step, "epoch": 1, "value": value} for step, value in values]


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ([], ""),
        ([(5, 3.0)], "▄"),
        ([(1, 2), (2, 2)], "▄▄"),
        ([(0, 0), (1, 1)], "▁█"),
        ([(1, 1), (2, 0), (4, 1)], "█▁ █"),
        ([(step, step) for step in range(8)], "▁▂▃▄▅▆▇█"),
        ([(step, step) for step in range(80)], "▁▂▃▄▅▆▇█"),
        ([(1, -1.7e308), (2, 1.7e308)], "▁█"),
        ([(1, 0.0), (2, 1e-300)], "▁█"),
    ],
)
def test_a_sparkline_shows_the_values_over_the_steps(values: list[tuple[int, float]], drawn: str) -> None:
    assert sparkline(points(*values), 8) == drawn


@given(
    st.dictionaries(st.integers(0, 2**53 - 1), st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    st.integers(1, 60),
    st.booleans(),
)
def test_any_curve_can_be_drawn(values: dict[int, float], width: int, ascii_only: bool) -> None:  # noqa: FBT001 - drawn
    steps = sorted(values)
    line = sparkline(points(*((step, values[step]) for step in steps)), width, ascii_only=ascii_only)
    assert len(line) == min(width, steps[-1] - steps[0] + 1)
    assert line.isascii() or not ascii_only
    assert line[0] != " "
    assert line[-1] != " "


def test_a_task_is_shown_with_its_losses_first_and_nothing_that_moves_the_cursor() -> None:
    metrics = {"val_loss": [], "a\x1b[2J": points((3, 1)), "train_loss": points((1, 0.123456789), (2, 10**30))}
    details = {"phase": "tr\x07aining", "step": 2, "max_steps": 50, "metrics": metrics}
    ids = {"workspace": "research", "job": "job-1", "step": "train", "task": "main", "status": "active"}
    more = {"error_details": None, "error_stack": None, "revision": 1, "created_at": "then", "updated_at": "now"}
    task = Task.model_validate({**ids, "status_details": details, **more})
    assert heading(task) == r"research / job-1 / train / main  active  tr\x07aining  step 2 of 50  now"
    console = Console(width=120, color_system=None)
    with console.capture() as shown:
        console.print(curves(task, 40, ascii_only=True))
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in shown.get().splitlines()]
    assert [line[:6] for line in lines if len(line) > 6][1:] == [
        ["train_loss", "2", "2", "1e+30", "0.12346", "1e+30"],
        ["val_loss", "0", "", "", "", ""],
        [r"a\x1b[2J", "1", "3", "1", "1", "1"],
    ]
