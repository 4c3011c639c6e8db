"""Engines that are kept for the next: on its weights, of its kind, and never one that failed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from impl.numerics.checkpoint import HeadShape
from impl.numerics.engine_pool import EnginePool
from impl.numerics.torch_adapter import torch_rollout

ADAPTER = torch_rollout()
FIRST, SECOND = (ADAPTER.checkpoint(seed) for seed in (0, 1))
PROMPT = [*range(3, 13)]


@pytest.fixture
def pool() -> EnginePool:
    return EnginePool(ADAPTER)


def test_a_kept_engine_answers_as_a_fresh_one_on_the_new_weights(pool: EnginePool) -> None:
    engine = pool.start(FIRST, mode="fp32")
    engine.generate([PROMPT], max_tokens=4, seed=0)
    engine.close()
    kept, fresh = pool.start(SECOND, mode="fp32"), ADAPTER.start(SECOND, mode="fp32")
    assert pool.started == 1
    assert np.array_equal(kept.prefill(PROMPT).logits, fresh.prefill(PROMPT).logits)
    assert kept.generate([PROMPT], max_tokens=4, seed=0) == fresh.generate([PROMPT], max_tokens=4, seed=0)


@pytest.mark.parametrize(
    ("weights", "other"),
    [
        (SECOND, {"mode": "off"}),
        (SECOND, {"mode": "fp32", "head": HeadShape(vocab_padding=True)}),
        (None, {"mode": "fp32"}),
    ],
    ids=["mode", "head", "dummy weights"],
)
def test_for_another_kind_one_is_started(pool: EnginePool, weights: Any, other: dict[str, Any]) -> None:
    pool.start(FIRST, mode="fp32").close()
    pool.start(weights, **other)
    assert pool.started == 2


def test_two_at_once_are_two(pool: EnginePool) -> None:
    first, second = pool.start(FIRST, mode="fp32"), pool.start(SECOND, mode="fp32")
    assert pool.started == 2
    assert not np.array_equal(first.prefill(PROMPT).logits, second.prefill(PROMPT).logits)


def test_a_closed_handle_reaches_no_engine_and_gives_it_back_once(pool: EnginePool) -> None:
    handle = pool.start(FIRST, mode="fp32")
    handle.close()
    handle.close()
    with pytest.raises(RuntimeError, match="prefill of an engine that was closed"):
        handle.prefill(PROMPT)
    one, other = pool.start(FIRST, mode="fp32"), pool.start(SECOND, mode="fp32")
    assert pool.started == 2
    assert not np.array_equal(one.prefill(PROMPT).logits, other.prefill(PROMPT).logits)


def test_one_that_cannot_take_the_weights_is_not_kept(pool: EnginePool) -> None:
    pool.start(FIRST, mode="fp32").close()
    with pytest.raises(KeyError, match="no_such"):
        pool.start({**SECOND, "model.no_such.weight": SECOND["lm_head.weight"]}, mode="fp32")
    pool.start(SECOND, mode="fp32")
    assert pool.started == 2


def test_engines_that_take_no_refits_cannot_be_kept() -> None:
    with pytest.raises(ValueError, match="does not declare `refit` and `direct`"):
        EnginePool(replace(ADAPTER, capabilities=frozenset({"direct"})))
