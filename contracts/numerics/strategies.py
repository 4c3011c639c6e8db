"""Hypothesis strategies for the cases of this room; usable alone.

Weights and tokens are drawn from a case's seed by numpy, not by Hypothesis: a head of realistic size has more
entries than a choice sequence should hold, and shrinking one of them explains nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from contracts.numerics.cases import ForwardCase, MetricsCase, ParityCase, RefitCase

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_SEEDS = st.integers(0, 999)


def forwards(*, max_length: int = 48) -> SearchStrategy[ForwardCase]:
    """Sequences of 2 to ``max_length`` tokens."""
    return st.builds(ForwardCase, seed=_SEEDS, length=st.integers(2, max_length))


def refits(*, max_updates: int = 2) -> SearchStrategy[RefitCase]:
    """Chains of updates, on warm and cold engines, started on real or dummy weights."""
    updates = st.lists(st.sampled_from(("step", "new", "head", "body")), min_size=1, max_size=max_updates).map(tuple)
    return st.builds(RefitCase, seed=_SEEDS, updates=updates, warm=st.booleans(), dummy=st.booleans(), shuffle=_SEEDS)


def pairs() -> SearchStrategy[ParityCase]:
    """Batches of sampled sequences."""
    return st.builds(
        ParityCase,
        seed=_SEEDS,
        sequences=st.integers(1, 3),
        prompt=st.integers(2, 12),
        generated=st.integers(1, 6),
    )


@st.composite
def batches(draw: st.DrawFn, *, max_gap: float = 3.0) -> MetricsCase:
    """Batches of 1 to 5 rows: log probabilities, gaps of up to ``max_gap`` nats, masks with a valid token.

    Masks are arbitrary, so prompts, tool turns in the middle, padding and packed rows all occur.
    """
    rows, length = draw(st.integers(1, 5)), draw(st.integers(1, 9))

    def table(values: SearchStrategy[float]) -> tuple[tuple[float, ...], ...]:
        row = st.lists(values, min_size=length, max_size=length).map(tuple)
        return tuple(draw(row) for _ in range(rows))

    lp_gen = table(st.floats(-20.0, 0.0, allow_subnormal=False))
    gaps = table(st.one_of(st.floats(-max_gap, max_gap, allow_subnormal=False), st.sampled_from((0.0, 1e-4, -1e-4))))
    flags = st.lists(st.integers(0, 1), min_size=rows * length, max_size=rows * length).filter(any)
    flat = draw(flags)
    mask = tuple(tuple(flat[i * length : (i + 1) * length]) for i in range(rows))
    return MetricsCase(lp_gen, gaps, mask)
