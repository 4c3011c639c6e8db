from __future__ import annotations

import json
import math
from enum import IntEnum
from fractions import Fraction

import numpy as np
import pytest
import torch

from impl.metrics_wire.values import MAX_STEP, chartable, chartable_metrics, printable, step_number


class Level(IntEnum):
    HIGH = 3


class Histogram:
    """As a charting library's: an object with no number in it."""


CHARTABLE = [
    (1, 1),
    (-3, -3),
    (0.5, 0.5),
    (2**70, 2**70),
    (Level.HIGH, 3),
    (Fraction(1, 2), 0.5),
    (np.float64(0.25), 0.25),
    (np.float32(0.25), 0.25),
    (np.float16(0.25), 0.25),
    (np.int64(7), 7),
    (np.array(0.5), 0.5),
    (np.array(7), 7),
    (torch.tensor(0.5), 0.5),
    (torch.tensor(0.5, dtype=torch.bfloat16), 0.5),
    (torch.tensor(7), 7),
    (torch.tensor(0.5, requires_grad=True), 0.5),
]

UNCHARTABLE = [
    math.nan,
    math.inf,
    -math.inf,
    True,
    10**400,
    -(10**5000),
    None,
    "0.5",
    [0.5],
    {"a": 1},
    {0: [1]},
    1j,
    Histogram(),
    np.bool_(1),
    np.float32("nan"),
    np.array([1.0]),
    np.array([1.0, 2.0]),
    np.array(math.inf),
    torch.tensor([1.0, 2.0]),
    torch.tensor(math.nan),
    torch.tensor(True),  # noqa: FBT003 - a value, not an option
    np.array("text"),
]


def named(values: list[object]) -> list[str]:
    return [f"{index}-{type(value).__name__}" for index, value in enumerate(values)]


@pytest.mark.parametrize(("value", "number"), CHARTABLE, ids=named([value for value, _ in CHARTABLE]))
def test_numbers_become_builtins(value: object, number: float) -> None:
    got = chartable(value)
    assert got == number
    assert type(got) is type(number)
    assert json.loads(json.dumps(got)) == number


@pytest.mark.parametrize("value", UNCHARTABLE, ids=named(UNCHARTABLE))
def test_what_is_no_finite_number_is_not_chartable(value: object) -> None:
    assert chartable(value) is None


def test_a_bad_value_costs_only_itself_and_only_numbers_are_worth_a_word() -> None:
    dropped: dict[str, str] = {}
    metrics: dict[object, object] = {str(index): value for index, value in enumerate(UNCHARTABLE)}
    kept = chartable_metrics({**metrics, "reward": 1, 7: 2.0, "\ud800": 1}, dropped.__setitem__)
    assert kept == {"reward": 1}
    assert {"0", "1", "4", "7", "'\\ud800'"} <= dropped.keys()
    assert "an integer of" in dropped["4"]
    assert "12" not in dropped, "a histogram-like object is no news"


def test_a_name_too_long_to_print_costs_only_itself() -> None:
    dropped: dict[str, str] = {}
    assert chartable_metrics({10**5000: 1.0, "reward": 1}, dropped.__setitem__) == {"reward": 1}
    assert "an integer of 16610 bits" in next(iter(dropped))


def test_the_dict_is_not_changed_and_not_kept() -> None:
    metrics: dict[object, object] = {"loss": np.float32(0.5), "table": Histogram()}
    before = dict(metrics)
    kept = chartable_metrics(metrics, lambda _name, _reason: None)
    assert metrics == before
    assert kept is not metrics


def test_a_value_that_breaks_when_read_is_dropped_with_the_reason() -> None:
    class Broken:
        shape = ()

        def item(self) -> float:
            raise RuntimeError("device lost")

    dropped: dict[str, str] = {}
    assert chartable_metrics({"broken": Broken(), "loss": 1.0}, dropped.__setitem__) == {"loss": 1.0}
    assert "device lost" in dropped["broken"]


@pytest.mark.parametrize(
    ("step", "number"),
    [(0, 0), (23, 23), (23.0, 23), (np.int64(4), 4), (torch.tensor(4), 4), (MAX_STEP, MAX_STEP)],
)
def test_a_whole_step_is_that_integer(step: object, number: int) -> None:
    assert step_number(step) == number
    assert type(step_number(step)) is int


@pytest.mark.parametrize("step", [-1, 1.5, MAX_STEP + 1, 10**400, math.nan, math.inf, True, None, "4", [4]])
def test_anything_else_is_no_step(step: object) -> None:
    assert step_number(step) is None


def test_an_integer_too_long_to_print_is_described() -> None:
    assert "bits" in str(printable(10**5000))
    assert printable(1.5) == 1.5
