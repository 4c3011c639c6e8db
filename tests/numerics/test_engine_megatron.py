"""Real Megatron-Core on CPU over gloo: the contracts on one and two ranks, and every way of calling the layer.

With the torch engine as its rollout only the checks of a pair are held; their mutants and the table are tried with a
real one, in ``test_engine_parity.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from contracts.numerics import budgets, head, parity
from impl.numerics.adapter import megatron_parity
from impl.numerics.checkpoint import HeadShape
from impl.numerics.megatron.adapter import MegatronAdapter
from impl.numerics.torch_adapter import torch_trainer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts import Check, Control, Mutant
    from impl.numerics.adapter import ReferencePair

pytestmark = [
    pytest.mark.engine("megatron"),
]
HERE = Path(__file__).parent


@pytest.fixture(params=[1, 2], ids=["tp1", "tp2"], scope="module")
def adapter(request: pytest.FixtureRequest) -> Iterator[MegatronAdapter]:
    found = MegatronAdapter(request.param)
    yield found
    found.close()


@pytest.fixture(scope="module")
def pair() -> Iterator[ReferencePair]:
    found = megatron_parity()
    yield found
    found.close()


@head.parametrize()
def test_head(adapter: MegatronAdapter, check: Check[Any]) -> None:
    check.verify(adapter, profile="smoke")


@head.parametrize_mutants()
def test_head_mutant(adapter: MegatronAdapter, mutant: Mutant[Any]) -> None:
    mutant.verify_killed(adapter)


@head.parametrize_controls()
def test_head_control(adapter: MegatronAdapter, control: Control[Any]) -> None:
    control.verify_held(adapter)


@parity.parametrize()
def test_parity(pair: ReferencePair, check: Check[Any]) -> None:
    check.verify(pair, profile="smoke")


@pytest.mark.parametrize("tied", [False, True])
def test_weights_come_back_as_they_went(adapter: MegatronAdapter, *, tied: bool) -> None:
    shape = HeadShape(tied=tied, vocab_padding=True)
    weights = adapter.checkpoint(3, shape)
    engine = adapter.start(weights, mode="fp32", head=shape)
    assert engine.weights().keys() == weights.keys()
    assert all(np.array_equal(engine.weights()[name], weights[name]) for name in weights)


def test_its_body_is_the_torch_engines_up_to_noise(adapter: MegatronAdapter) -> None:
    weights = adapter.checkpoint(0)
    sequences = np.random.default_rng(0).integers(0, adapter.vocab, (4, 20)).tolist()
    mine = np.concatenate(adapter.start(weights, mode="fp32").score(sequences))
    theirs = np.concatenate(torch_trainer().start(weights, mode="fp32").score(sequences))
    assert 0.001 < np.median(np.abs(mine - theirs)) < 0.03


@pytest.fixture(params=[1, 2], ids=["tp1", "tp2"], scope="module")
def layers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What every rank's process found of its layer."""
    rendezvous = tmp_path_factory.mktemp("layer") / "rendezvous"
    command = [sys.executable, "-W", "ignore", str(HERE / "megatron_layer.py")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    ranks = [
        subprocess.Popen(  # noqa: S603 - our own file
            [*command, str(rank), str(request.param), str(rendezvous)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=HERE.parents[1],
        )
        for rank in range(request.param)
    ]
    finished = [rank.communicate(timeout=120) for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0] * request.param, finished[0][1][-2000:]
    return [json.loads(out.splitlines()[-1]) for out, _ in finished]


def test_every_way_of_calling_the_layer_is_exact(layers: list[dict[str, Any]]) -> None:
    """Sequence parallel, gathered or not, bias added or left, weight passed in or its own."""
    ways = [way for rank in layers for way in rank["ways"]]
    assert len(ways) == (8 if len(layers) == 1 else 2 * 16)
    for way in ways:
        assert way["dtype"] == "torch.float32"
        assert way["shape_kept"], way
        assert way["logits"] < 2**-22, way
        assert way["grad_hidden"] < budgets.GRADIENT, way
        assert way["grad_weight"] < budgets.GRADIENT, way
        assert way["grad_dtypes"] == ["torch.bfloat16"]
        names = {"_extra_state", "bias"} | (set() if way["way"]["tied"] else {"weight"})
        assert set(way["sharded_keys"]) == names, "the sharded state dict is the layer's own"


def test_behind_megatrons_wrappers_the_gradient_reaches_main_grad(layers: list[dict[str, Any]]) -> None:
    for rank in layers:
        found = rank["wrapped"]
        assert found["owner"] == "LastStage"
        assert found["wrapped"] == 1
        assert found["dtype"] == "torch.float32"
        assert found["main_grad_dtype"] == "torch.float32"
        assert found["main_grad"] < budgets.GRADIENT


def test_an_fp32_residual_connection_reaches_the_real_config(layers: list[dict[str, Any]]) -> None:
    for rank in layers:
        assert rank["residual"] == {"False": False, "True": True}
