"""Strategies for the cases of a Jobs service: updates, interleavings, points, names and values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from contracts.metrics_wire.bad_requests import STATUSES
from contracts.metrics_wire.service_cases import (
    Batches,
    Ids,
    Interleaving,
    Pair,
    Sent,
    SeriesNames,
    Turn,
    Updates,
    Value,
)
from contracts.metrics_wire.service_task import point

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

#: Text that every database can store: no surrogates, and no NUL.
_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
_KEYS = st.sampled_from(["phase", "step", "epoch", "message", "a", "b"])
_INTEGERS = st.integers(-(2**63), 2**63 - 1)
_FLOATS = st.floats(allow_nan=False, allow_infinity=False)
_NUMBERS = _INTEGERS | _FLOATS
_SCALARS = _TEXT | st.booleans() | _NUMBERS
_JSON: SearchStrategy[Any] = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3), max_leaves=8
)
_SERIES = st.sampled_from(["train_loss", "val_loss", "train_reward", "κ/λ"])


@st.composite
def _whole_series(draw: DrawFn) -> dict[str, Any]:
    series: dict[str, Any] = {}
    for name in draw(st.lists(_SERIES, max_size=2, unique=True)):
        steps = sorted(draw(st.sets(st.integers(0, 40), max_size=4)))
        series[name] = [point(step, draw(_NUMBERS), draw(st.integers(1, 3))) for step in steps]
    return series


@st.composite
def _details(draw: DrawFn) -> dict[str, Any]:
    details = draw(st.dictionaries(_KEYS, _JSON, max_size=3))
    return details | ({"metrics": draw(_whole_series())} if draw(st.booleans()) else {})


def detail_updates() -> SearchStrategy[Updates]:
    """Updates of the details alone."""
    bodies = _details().map(lambda details: json.dumps({"status_details": details}))
    return st.lists(bodies, min_size=2, max_size=4).map(lambda each: Updates(tuple(each)))


def partial_updates() -> SearchStrategy[Updates]:
    """Updates with any of the four fields."""
    fields = st.fixed_dictionaries(
        {},
        optional={
            "status": st.sampled_from(sorted(STATUSES)),
            "status_details": _details(),
            "error_details": st.dictionaries(_KEYS, _JSON, max_size=2),
            "error_stack": _TEXT,
        },
    )
    return st.lists(fields.map(json.dumps), min_size=2, max_size=4).map(lambda each: Updates(tuple(each)))


def interleavings() -> SearchStrategy[Interleaving]:
    """The writes of a runner and a driver, in any order."""
    number = st.integers(1, 6)
    runner = st.builds(Turn, st.just("runner"), st.sampled_from(["status", "phase", "error"]), number)
    driver = st.builds(Turn, st.just("driver"), st.sampled_from(["series", "points", "points"]), number)
    return st.lists(runner | driver, min_size=2, max_size=8).map(lambda turns: Interleaving(tuple(turns)))


@st.composite
def batches(draw: DrawFn) -> Batches:
    """Appends of a few points each, in no order."""
    found = []
    for _ in range(draw(st.integers(1, 4))):
        keys = draw(st.lists(st.tuples(_SERIES, st.integers(0, 12)), min_size=1, max_size=5, unique=True))
        found.append(
            tuple(Sent(name, step, draw(st.integers(1, 3)), json.dumps(draw(_NUMBERS))) for name, step in keys)
        )
    return Batches(tuple(found))


def series_names() -> SearchStrategy[SeriesNames]:
    """Names of series, from the loops' kind to any text."""
    usual = st.sampled_from(
        ["train_loss", "train_timing/rollout/total", "val_accuracy", "step", "metrics", "__proto__"]
    )
    odd = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=24)
    names = st.lists(usual | odd, min_size=1, max_size=5, unique=True)
    return names.map(lambda each: SeriesNames(tuple(each)))


def numbers() -> SearchStrategy[Value]:
    """Finite numbers: integers of 64 bits, and floats."""
    return _NUMBERS.map(json.dumps).map(Value)


def details() -> SearchStrategy[Value]:
    """Any JSON object without a null."""
    return st.dictionaries(_TEXT.filter(lambda key: key != "metrics"), _JSON, max_size=4).map(json.dumps).map(Value)


def pairs() -> SearchStrategy[Pair]:
    """Two tasks whose ids differ in one place."""
    text = st.text(st.sampled_from("ab1._-") | st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
    field = st.sampled_from(["workspace", "step", "task", "job"])
    either = st.tuples(text, text).filter(lambda both: both[0] != both[1])
    # An id that begins with a letter is one that a service may take; the rest of it is drawn.
    return st.builds(lambda name, both: Pair(Ids(**{name: f"x{both[0]}"}), Ids(**{name: f"x{both[1]}"})), field, either)
