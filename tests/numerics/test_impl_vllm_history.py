"""Engines that are remembered by their history: equal histories run once, and nothing else is taken for equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from impl.numerics.torch_adapter import torch_rollout
from impl.numerics.vllm.history import HistoryError, Memory, RememberedEngine, digest

if TYPE_CHECKING:
    from collections.abc import Mapping

ADAPTER = torch_rollout()
FIRST, SECOND = (ADAPTER.checkpoint(seed) for seed in (0, 1))
PROMPT = [*range(3, 13)]


class Starts:
    """Starts engines on torch, and counts them."""

    def __init__(self) -> None:
        self.count = 0
        self.memory: Memory = {}

    def remembered(self, weights: Mapping[str, Any] = FIRST) -> RememberedEngine:
        def start() -> Any:
            self.count += 1
            return ADAPTER.start(weights, mode="fp32")

        return RememberedEngine(start, self.memory, digest(weights))


@pytest.fixture
def starts() -> Starts:
    return Starts()


def one_bit_apart(weights: Mapping[str, Any]) -> dict[str, Any]:
    head = weights["lm_head.weight"].copy()
    head.view(np.uint32)[-1, -1] ^= 1 << 16
    return {**weights, "lm_head.weight": head}


def test_an_equal_history_starts_nothing_and_gives_the_same_answers(starts: Starts) -> None:
    answers = []
    for _ in range(2):
        engine = starts.remembered()
        engine.refit(SECOND, transport="direct")
        answers.append((engine.prefill(PROMPT).logits, engine.generate([PROMPT], max_tokens=2, seed=0)))
        engine.close()
    assert starts.count == 1
    assert np.array_equal(answers[0][0], answers[1][0])
    assert answers[0][1] == answers[1][1]


@pytest.mark.parametrize(
    "other",
    [
        {"weights": one_bit_apart(SECOND)},
        {"weights": {"lm_head.weight": SECOND["lm_head.weight"]}},
        {"transport": "checkpoint"},
        {"order": sorted(SECOND, reverse=True)},
        {"weights": dict(sorted(SECOND.items(), reverse=True))},
    ],
    ids=["one bit of a weight", "a part", "transport", "order", "order of the mapping"],
)
def test_another_refit_is_another_history(starts: Starts, other: dict[str, Any]) -> None:
    refit = {"weights": SECOND, "transport": "collective"}
    for options in (refit, refit | other):
        engine = starts.remembered()
        engine.refit(**options)
        engine.close()
    assert starts.count == 2


def test_another_start_or_request_is_another_history(starts: Starts) -> None:
    starts.remembered().score([PROMPT])
    starts.remembered(one_bit_apart(FIRST)).score([PROMPT])
    starts.remembered().score([PROMPT, PROMPT])
    assert starts.count == 3
    engine = starts.remembered()
    engine.score([PROMPT])
    assert starts.count == 3
    engine.score([PROMPT])
    assert starts.count == 4, "the second time may be served from what the first left behind"


def test_what_was_only_remembered_is_carried_out_before_something_new_is_asked(starts: Starts) -> None:
    engine = starts.remembered()
    engine.refit(SECOND, transport="direct")
    engine.close()
    again = starts.remembered()
    again.refit(SECOND, transport="direct")
    assert starts.count == 1
    plain = ADAPTER.start(SECOND, mode="fp32")
    assert np.array_equal(again.prefill(PROMPT).logits, plain.prefill(PROMPT).logits)
    assert starts.count == 2


def test_changing_an_answer_or_what_was_sent_changes_nothing_later(starts: Starts) -> None:
    sent = {name: weight.copy() for name, weight in SECOND.items()}
    for _ in range(2):
        engine = starts.remembered()
        engine.refit(sent, transport="direct")
        logits = engine.prefill(PROMPT).logits
        want = logits.copy()
        logits += 1
        engine.close()
    later = starts.remembered()
    later.refit(sent, transport="direct")
    assert np.array_equal(later.prefill(PROMPT).logits, want)
    sent["lm_head.weight"][:] = 0
    assert np.array_equal(later.weights()["lm_head.weight"], SECOND["lm_head.weight"])


def test_an_error_is_an_answer(starts: Starts) -> None:
    for _ in range(2):
        engine = starts.remembered()
        with pytest.raises(ValueError, match="no transport 'pigeon'"):
            engine.refit(SECOND, transport="pigeon")
        engine.close()
    assert starts.count == 1
    engine = starts.remembered()
    with pytest.raises(ValueError, match="pigeon"):
        engine.refit(SECOND, transport="pigeon")
    assert engine.score([PROMPT])[0].shape == (len(PROMPT) - 1,)


def test_an_engine_that_does_not_repeat_itself_is_an_error() -> None:
    class Tired:
        """Takes one refit in its life, whichever of its engines it is."""

        refits = 0

        def refit(self, *_arguments: object, **_options: object) -> None:
            Tired.refits += 1
            if Tired.refits > 1:
                raise ConnectionError("no more")

        def parameters(self) -> dict[str, str]:
            return {}

    memory: Memory = {}
    RememberedEngine(Tired, memory, "key").refit(SECOND, transport="direct")
    engine = RememberedEngine(Tired, memory, "key")
    engine.refit(SECOND, transport="direct")
    with pytest.raises(HistoryError, match=r"answered None before and ConnectionError\('no more'\) now"):
        engine.parameters()


def test_a_refit_with_requests_inside_is_never_remembered(starts: Starts) -> None:
    for turn in (1, 2):
        engine = starts.remembered()
        engine.refit(SECOND, transport="collective", between=lambda: None)
        engine.score([PROMPT])
        assert starts.count == turn


def test_after_closing_nothing_is_answered(starts: Starts) -> None:
    engine = starts.remembered()
    engine.score([PROMPT])
    engine.close()
    with pytest.raises(HistoryError, match="was closed"):
        engine.score([PROMPT])
    with pytest.raises(HistoryError, match="was closed"):
        engine.head_storage()
