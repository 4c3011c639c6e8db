from __future__ import annotations

import json
import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.case import decode, encode


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Point:
    x: int
    label: str = ""


@dataclass(frozen=True)
class Drawing:
    points: tuple[Point, ...]
    colour: Colour = Colour.RED
    scale: float = 1.0
    title: str | None = None
    flags: dict[str, bool] | None = None
    mixed: int | str = 0


#: No deadline: the machine may be busy.
unhurried = settings(deadline=None)
points = st.builds(Point, st.integers(), st.text())
drawings = st.builds(
    Drawing,
    points=st.lists(points, max_size=3).map(tuple),
    colour=st.sampled_from(Colour),
    scale=st.floats(allow_nan=False),
    title=st.none() | st.text(),
    flags=st.none() | st.dictionaries(st.text(), st.booleans(), max_size=3),
    mixed=st.integers() | st.text(),
)


@unhurried
@given(drawings)
def test_a_case_comes_back_from_its_json(case: Drawing) -> None:
    assert decode(Drawing, encode(case)) == case


@unhurried
@given(drawings)
def test_the_json_of_a_case_is_one_line(case: Drawing) -> None:
    assert len(encode(case).splitlines()) == 1


@pytest.mark.parametrize("case", [0, -1.5, "text", 'a "quoted" one', True, [1, 2], {"a": 1}, math.inf, -math.inf])
def test_builtin_values_come_back(case: object) -> None:
    assert decode(type(case), encode(case)) == case


def test_nan_comes_back() -> None:
    assert math.isnan(decode(Drawing, encode(Drawing((), scale=math.nan))).scale)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a Point: the case: Invalid JSON"),
        ("[]", "not a Point: the case: Input should be an object"),
        ('{"label": "a"}', "not a Point: x: Field required"),
        ('{"x": "many"}', "not a Point: x: Input should be a valid integer"),
        ('{"x": 1, "labell": "a"}', "not a Point: it has no labell"),
    ],
    ids=["no JSON", "another type", "a missing field", "a wrong field", "an unknown field"],
)
def test_a_malformed_case_is_refused_in_plain_words(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="not a Point") as caught:
        decode(Point, text)
    assert str(caught.value).startswith(message)


def test_an_unknown_field_inside_is_named_with_its_place() -> None:
    text = json.dumps({"points": [{"x": 1}, {"x": 2, "y": 3}], "color": "red"})
    with pytest.raises(ValueError, match=r"not a Drawing: it has no color, points\.1\.y"):
        decode(Drawing, text)


@dataclass(frozen=True)
class Opaque:
    inside: Any


def test_a_case_that_is_not_json_like_cannot_be_encoded() -> None:
    with pytest.raises(ValueError, match="serialize"):
        encode(Opaque(object()))
