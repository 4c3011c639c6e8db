"""Strategies for the cases: runs, schedules, resumes, names and validation sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from contracts.metrics_wire.cases import Names, Planned, Resumed, Run, Sets, Throttled
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.services import Service

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

SERVICES = st.sampled_from(list(Service))
ALGORITHMS = st.sampled_from(["grpo", "dpo"])

#: Text that a loop may call a metric or a set. Surrogates cannot be encoded, so nobody can report them.
_LETTERS = st.sampled_from("ab_/@-.: %") | st.characters(codec="utf-8", categories=("L", "N", "P", "Zs"))
_FIELD_NAMES = st.sampled_from(
    ["loss", "step", "epoch", "metrics", "phase", "val_loss", "train_loss", "a/b", "timing/x"]
)


def names() -> SearchStrategy[str]:
    """Names of metrics: of the loops' kind, and odd ones."""
    return st.text(_LETTERS, min_size=1, max_size=12) | _FIELD_NAMES


@st.composite
def runs(draw: DrawFn) -> Run:
    """The train steps of one process, from the beginning of the run or from a checkpoint."""
    first, steps = draw(st.integers(1, 500)), draw(st.integers(1, 30))
    per_epoch = draw(st.none() | st.integers(1, 40))
    schedule = Schedule(
        max_steps=first + steps - 1 + draw(st.integers(0, 20)),
        num_epochs=draw(st.integers(1, 4)),
        val_period=draw(st.integers(0, 400)),
        steps_per_epoch=per_epoch,
    )
    return Run(draw(SERVICES), draw(ALGORITHMS), schedule, first, steps)


@st.composite
def stated_schedules(draw: DrawFn) -> Planned:
    """Runs whose configuration states the steps of an epoch, and whose epochs hold them all."""
    per_epoch, epochs = draw(st.integers(1, 300)), draw(st.integers(1, 20))
    max_steps = draw(st.integers(1, per_epoch * epochs))
    return _planned(draw, Schedule(max_steps, epochs, draw(st.integers(0, 50)), per_epoch))


@st.composite
def derived_schedules(draw: DrawFn) -> Planned:
    """Runs whose steps of an epoch are derived, whether they divide evenly or not."""
    max_steps = draw(st.integers(1, 3000))
    return _planned(draw, Schedule(max_steps, draw(st.integers(1, min(max_steps, 40))), draw(st.integers(0, 50)), None))


def _planned(draw: DrawFn, schedule: Schedule) -> Planned:
    edges = {1, schedule.max_steps}
    if schedule.steps_per_epoch:
        boundaries = range(0, schedule.max_steps + 1, schedule.steps_per_epoch)
        edges |= {step for at in boundaries[:4] for step in (at, at + 1) if 1 <= step <= schedule.max_steps}
    some = draw(st.sets(st.integers(1, schedule.max_steps), max_size=6))
    steps = tuple(sorted(edges | some))
    return Planned(schedule, steps, draw(st.integers(0, len(steps) - 1)))


@st.composite
def metric_names(draw: DrawFn) -> Names:
    """Metrics of one dict."""
    return Names(tuple(draw(st.lists(names(), min_size=1, max_size=12, unique=True))), draw(SERVICES))


@st.composite
def validation_sets(draw: DrawFn) -> Sets:
    """Validation sets whose names and metrics may read like one another's."""
    sets = draw(st.lists(st.text(_LETTERS, min_size=1, max_size=6), min_size=2, max_size=4, unique=True))
    own = draw(st.lists(st.text(_LETTERS, min_size=1, max_size=6), min_size=1, max_size=4, unique=True))
    like_a_set = draw(st.sampled_from(["", f"{sets[1]}/{own[0]}", f"{sets[1]}_{own[0]}", f"@{sets[1]}/{own[0]}"]))
    return Sets(tuple(sets), tuple(dict.fromkeys([*own, *filter(None, [like_a_set])])))


@st.composite
def throttled(draw: DrawFn, ends: tuple[str, ...]) -> Throttled:
    """Runs that end between two reports, or on one."""
    return Throttled(
        draw(SERVICES),
        draw(ALGORITHMS),
        draw(st.integers(0, 300)),
        draw(st.integers(1, 25)),
        draw(st.booleans()),
        draw(st.sampled_from(ends)),
    )


@st.composite
def resumes(draw: DrawFn) -> Resumed:
    """Runs of several processes; each starts after some checkpoint of what came before."""
    spans: list[tuple[int, int]] = []
    last = 0
    for _ in range(draw(st.integers(2, 4))):
        first = draw(st.integers(max(1, last - 4), last + 1))
        last = first + draw(st.integers(0, 6))
        spans.append((first, last))
    return Resumed(draw(SERVICES), tuple(spans))
