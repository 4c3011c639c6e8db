"""Hypothesis strategies for this room's cases; each is usable alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from contracts.gym_overflow.fault import LIMIT_FAULTS, WORD_PLACES, FaultyRequest, Suspicion, faults_of
from contracts.gym_overflow.probe import Probe, Route
from contracts.gym_overflow.silent import Exceeding

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_OUTPUT_LIMITS = st.none() | st.integers(1, 64) | st.sampled_from((1, 10**6))
#: What a limit above the window does is said by the checks of the clamp, and by no other.
_MODEST_LIMITS = st.none() | st.integers(1, 8)
_TURNS = st.integers(1, 3)
#: Text that a template passes through unchanged; never one of the words that a classifier looks for.
_LEADS = st.text(alphabet=st.characters(min_codepoint=97, max_codepoint=122) | st.just(" "), max_size=12)


def overflows(max_offset: int = 200) -> SearchStrategy[Probe]:
    """Probes whose prompt fills the window or exceeds it by up to ``max_offset`` tokens."""
    offsets = st.integers(0, 3) | st.integers(0, max_offset)
    return st.builds(Probe, offset=offsets, output_limit=_OUTPUT_LIMITS, turns=_TURNS, lead=_LEADS)


def last_fits() -> SearchStrategy[Probe]:
    """Probes whose prompt leaves room for exactly one token."""
    return st.builds(Probe, offset=st.just(-1), output_limit=st.sampled_from((None, 1)), turns=_TURNS, lead=_LEADS)


def around_the_window() -> SearchStrategy[Probe]:
    """Probes on both sides of the window."""
    return st.builds(Probe, offset=st.integers(-3, 3), output_limit=_MODEST_LIMITS, turns=_TURNS, lead=_LEADS)


def clamped() -> SearchStrategy[Exceeding]:
    """Requests whose prompt fits, and whose prompt and output limit together do not."""
    return st.builds(Exceeding, room=st.integers(1, 8), excess=st.integers(1, 64) | st.just(10**6))


def faulty_requests(
    route: Route = Route.CHAT, words: SearchStrategy[str] | None = None
) -> SearchStrategy[FaultyRequest]:
    """Requests with a fault that has nothing to do with the window; their words are suspicious if none are given."""
    return st.builds(
        FaultyRequest,
        fault=st.sampled_from(faults_of(route)),
        words=_words() if words is None else words,
        output_limit=st.none() | st.integers(1, 8),
        route=st.just(route),
    )


def neutral_faults(route: Route = Route.CHAT) -> SearchStrategy[FaultyRequest]:
    """Faulty requests that hold no word that a classifier looks for."""
    return faulty_requests(route, st.sampled_from(("hello", "what is 2 + 2", "x")))


def faults_beside_the_limit() -> SearchStrategy[FaultyRequest]:
    """Faulty requests to the chat route without suspicious words, whose output limit, if any, is valid."""
    return neutral_faults().filter(_is_beside_the_limit)


def suspicious_faults() -> SearchStrategy[FaultyRequest]:
    """Faulty requests to the chat route with suspicious words, whose output limit, if any, is valid."""
    return faulty_requests().filter(_is_beside_the_limit)


def _is_beside_the_limit(request: FaultyRequest) -> bool:
    return request.fault not in LIMIT_FAULTS


def suspicions() -> SearchStrategy[Suspicion]:
    """Requests whose verdict must not depend on suspicious words in some place."""
    return st.builds(Suspicion, place=st.sampled_from(WORD_PLACES), words=_words(), overflows=st.booleans())


def _words() -> SearchStrategy[str]:
    known = ("context length", "max_tokens", "maximum context length", "Context Length", "context_length_exceeded")
    return st.sampled_from(known) | st.sampled_from(known).map(lambda words: f"My {words} is 64 tokens, you sent 65")
