from __future__ import annotations

import numpy as np
import pytest
import torch

from contracts.numerics import budgets
from contracts.numerics.oracle import Head
from impl.numerics.answers import EngineStateError
from impl.numerics.cached_head import cached_head_of
from impl.numerics.checkpoint import HeadShape, LlamaShape, make_checkpoint
from impl.numerics.prefix_cache import BLOCK
from impl.numerics.torch_adapter import torch_rollout, torch_trainer
from impl.numerics.torch_engine import TorchEngine

PROMPT = list(range(3, 3 + 3 * BLOCK))


def test_logits_stand_where_production_logits_stand() -> None:
    for seed in range(3):
        weights = torch_rollout().checkpoint(seed)
        logits = torch_rollout().start(weights, mode="off").prefill(PROMPT).logits
        assert 15 < np.median(logits.max(axis=-1)) < 40
        assert 15 < np.median(logits) < 30


def test_a_cached_prefix_changes_samples_by_rounding_only() -> None:
    adapter = torch_rollout()
    weights = adapter.checkpoint(0)
    cold, warm = adapter.start(weights, mode="fp32"), adapter.start(weights, mode="fp32")
    warm.generate([PROMPT[: 2 * BLOCK]], max_tokens=1, seed=0)
    (one,), (two,) = (e.generate([PROMPT], max_tokens=6, seed=1) for e in (cold, warm))
    assert one.tokens == two.tokens
    assert np.abs(np.array(one.logprobs) - np.array(two.logprobs)).max() < 0.1


def test_samples_do_not_depend_on_the_batch() -> None:
    adapter = torch_rollout()
    engine = adapter.start(adapter.checkpoint(0), mode="fp32")
    prompts = [PROMPT, [7, 8, 9], PROMPT[::-1], [1, 2, 3]]
    together = engine.generate(prompts, max_tokens=5, seed=4)
    for i, prompt in enumerate(prompts):
        fresh = adapter.start(adapter.checkpoint(0), mode="fp32")
        (alone,) = fresh.generate([prompt], max_tokens=5, seed=4 + i)
        assert alone.tokens == together[i].tokens


def test_samples_follow_their_logprobs() -> None:
    """One position, many draws: frequencies against exp(logprob)."""
    adapter = torch_rollout()
    engine = adapter.start(adapter.checkpoint(0), mode="fp32")
    draws = [sample.tokens[0] for sample in engine.generate([PROMPT] * 2000, max_tokens=1, seed=0)]
    token, count = max(((t, draws.count(t)) for t in set(draws)), key=lambda pair: pair[1])
    probability = float(np.exp(engine.score([[*PROMPT, token]])[0][-1]))
    assert count / 2000 == pytest.approx(probability, abs=5 * (probability / 2000) ** 0.5)


def test_only_the_cached_strategy_holds_a_copy() -> None:
    shape, head = LlamaShape(), HeadShape()
    for strategy in ("model", "per_call", "tf32"):
        assert TorchEngine(shape, head, strategy).head_storage() is None
    engine = TorchEngine(shape, head, "cached")
    engine.prefill(PROMPT)
    assert cached_head_of(engine.model).bytes_held == shape.vocab * shape.hidden * 4


def test_a_wrong_size_leaves_the_engine_refusing_until_all_weights_come() -> None:
    adapter = torch_rollout()
    weights = adapter.checkpoint(0)
    engine = adapter.start(weights, mode="fp32")
    with pytest.raises(ValueError, match="in the update"):
        engine.refit({"lm_head.weight": np.zeros((3, 3), dtype=np.float32)}, transport="direct")
    with pytest.raises(EngineStateError, match="refit all weights"):
        engine.score([PROMPT])
    with pytest.raises(EngineStateError, match="send all weights"):
        engine.refit({"lm_head.weight": weights["lm_head.weight"]}, transport="direct")
    engine.refit(weights, transport="direct")
    engine.score([PROMPT])


def test_an_unknown_transport_is_an_error() -> None:
    adapter = torch_rollout()
    engine = adapter.start(adapter.checkpoint(0), mode="fp32")
    with pytest.raises(ValueError, match="no transport 'pigeon'; there are direct"):
        engine.refit(adapter.checkpoint(1), transport="pigeon")


@pytest.mark.parametrize("order", [("lm_head.weight",), ("no.such.name",)])
def test_an_order_of_other_weights_is_an_error_before_anything_is_written(order: tuple[str, ...]) -> None:
    adapter = torch_rollout()
    engine = adapter.start(adapter.checkpoint(0), mode="fp32")
    before = engine.score([PROMPT])
    with pytest.raises(ValueError, match="must name each weight of the update once"):
        engine.refit(adapter.checkpoint(1), transport="collective", order=order)
    assert np.array_equal(engine.score([PROMPT]), before)


@pytest.mark.parametrize("tokens", [[], [-1, 2], [3, 512]])
def test_tokens_outside_the_vocabulary_are_refused_on_the_host(tokens: list[int]) -> None:
    """A device-side assertion would end every later call of the process."""
    adapter = torch_rollout()
    with pytest.raises(ValueError, match=r"ids in \[0, 512\)"):
        adapter.start(adapter.checkpoint(0), mode="fp32").prefill(tokens)


def test_a_sample_has_a_token() -> None:
    adapter = torch_rollout()
    with pytest.raises(ValueError, match="at least one token"):
        adapter.start(adapter.checkpoint(0), mode="fp32").generate([PROMPT], max_tokens=0, seed=0)


def test_a_mode_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ValueError, match="untouched, off, fp32, tf32"):
        torch_rollout().start(None, mode="TF32")


def test_the_heads_gradient_is_within_its_bound_in_every_mode() -> None:
    """Relative error against fp64. In bf16 the incoming gradient is rounded too, so two roundings more."""
    adapter = torch_trainer()
    weights, tokens = adapter.checkpoint(0), np.random.default_rng(0).integers(0, adapter.vocab, 40).tolist()
    error = {}
    for mode in ("off", "fp32", "tf32"):
        found = adapter.start(weights, mode=mode).gradients(tokens)
        exact = Head.of(weights).weight_gradient(found.hidden, tokens)
        error[mode] = np.linalg.norm(found.values["lm_head.weight"] - exact) / np.linalg.norm(exact)
    assert error["fp32"] < budgets.GRADIENT
    assert error["tf32"] < budgets.GRADIENT
    assert error["fp32"] < error["off"] < 3 * budgets.GRADIENT


def test_a_delta_writes_only_what_changed() -> None:
    adapter = torch_rollout()
    engine = adapter.start(adapter.checkpoint(0), mode="fp32")
    parameter = engine.model.model.norm.weight
    before = parameter.data_ptr()
    new = dict(adapter.checkpoint(0))
    new["model.norm.weight"] = new["model.norm.weight"].copy()
    new["model.norm.weight"][3] = 2.0
    engine.refit(new, transport="delta")
    assert parameter.data_ptr() == before
    assert float(parameter.detach()[3]) == 2.0


def test_two_bodies_differ_by_bf16_noise() -> None:
    """The pair is worth comparing: its sides agree closely and not exactly."""
    weights = torch_rollout().checkpoint(0)
    sequences = np.random.default_rng(0).integers(0, 512, (6, 24)).tolist()
    one, two = (
        np.concatenate(adapter.start(weights, mode="fp32").score(sequences))
        for adapter in (torch_rollout(), torch_trainer())
    )
    gaps = np.abs(one - two)
    assert 0.001 < np.median(gaps) < 0.03
    assert gaps.max() < 0.2


def test_checkpoints_are_bf16_and_repeatable() -> None:
    head = HeadShape(bias=True, drafter=True)
    one, two = (make_checkpoint(LlamaShape(), head, 5) for _ in range(2))
    assert one.keys() == two.keys()
    assert all(torch.equal(one[name], two[name]) and one[name].dtype == torch.bfloat16 for name in one)
    assert not torch.equal(one["lm_head.weight"], make_checkpoint(LlamaShape(), head, 6)["lm_head.weight"])
