"""Hypothesis strategies for answers that no server gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from contracts.gym_overflow.recorded_answers import RecordedAnswer

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_WORDS = ("maximum context length", "context length", "max_tokens", "context_length_exceeded", "{}", "null", '"')
#: What servers answer an overflow, or something that looks like one, with.
_FREQUENT = (200, 413, 422, 429, 500, 503)
_TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30)


def bodies() -> SearchStrategy[str]:
    """Text in which the words that classifiers look for are frequent, alone and together."""
    return st.tuples(_TEXT, st.lists(st.sampled_from(_WORDS), min_size=1, unique=True), _TEXT).map(
        lambda parts: " ".join((parts[0], *parts[1], parts[2]))
    )


def answers_with_another_status() -> SearchStrategy[RecordedAnswer]:
    """Answers whose status is anything but 400."""
    statuses = st.sampled_from(_FREQUENT) | st.integers(100, 599).filter(lambda status: status != 400)  # noqa: PLR2004 - the one status left out
    return st.builds(
        RecordedAnswer, st.just("made up"), st.just("not_overflow"), statuses, bodies(), classified=st.just(value=False)
    )
