"""The contracts on a CUDA device, and what only a device shows: TF32, captured graphs, cost.

Needs torch, numpy, pytest and hypothesis. Checks whose capability the adapter does not declare are left out when the
tests are collected, so that the pytest plugin is not needed.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from torch import nn

from contracts.numerics import PairAdapter, budgets, head, parity
from contracts.numerics.oracle import Head
from impl.numerics.cached_head import StaleHeadError, attach_cached_head
from impl.numerics.checkpoint import LlamaShape
from impl.numerics.fp32_linear import fp32_linear
from impl.numerics.matmul_precision import fp32_matmul_precision, matmul_flags
from impl.numerics.refit_hooks import WorkerHeads
from impl.numerics.torch_adapter import TorchAdapter, torch_rollout, torch_trainer

if TYPE_CHECKING:
    from contracts import Check, Control, Mutant

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).parents[2]
VOCAB, HIDDEN = 32768, 2048
#: Larger than on CPU, so that the kernels are those of real sizes: tensor cores, split reductions.
SHAPE = LlamaShape(layers=2, hidden=256, heads=4, ffn=512, vocab=2048)
ROLLOUT = replace(torch_rollout(), name="torch-cached-cuda", device="cuda", shape=SHAPE)
TRAINER = replace(torch_trainer(), name="torch-trainer-cuda", device="cuda", shape=SHAPE)
ADAPTERS = (ROLLOUT, TRAINER)
PAIR = PairAdapter(train=TRAINER, rollout=ROLLOUT)
CHECKS = [(adapter, check) for adapter in ADAPTERS for check in head.checks if not check.missing(adapter)]
MUTANTS = [(adapter, m) for adapter in ADAPTERS for m in head.mutants if not m.check.missing(adapter)]
CONTROLS = [(adapter, c) for adapter in ADAPTERS for c in head.controls if not c.check.missing(adapter)]


@pytest.mark.parametrize(("adapter", "check"), CHECKS, ids=[f"{a.name}-{c.id}" for a, c in CHECKS])
def test_head(adapter: TorchAdapter, check: Check[Any]) -> None:
    check.verify(adapter, profile="smoke")


@pytest.mark.parametrize(("adapter", "mutant"), MUTANTS, ids=[f"{a.name}-{m.id}" for a, m in MUTANTS])
def test_head_mutant(adapter: TorchAdapter, mutant: Mutant[Any]) -> None:
    mutant.verify_killed(adapter)


@pytest.mark.parametrize(("adapter", "control"), CONTROLS, ids=[f"{a.name}-{c.id}" for a, c in CONTROLS])
def test_head_control(adapter: TorchAdapter, control: Control[Any]) -> None:
    """Half of a budget is tolerated: the device's own rounding leaves that much of it."""
    control.verify_held(adapter)


PARITY = [check for check in parity.checks if not check.requires - PAIR.capabilities]


@pytest.mark.parametrize("check", PARITY, ids=[check.id for check in PARITY])
def test_parity(check: Check[Any]) -> None:
    check.verify(PAIR, profile="smoke")


def relative_error(x: torch.Tensor, weight: torch.Tensor, *, tf32: bool) -> float:
    exact = x.double() @ weight.double().t()
    return float((fp32_linear(x, weight, tf32=tf32).double() - exact).norm() / exact.norm())


def test_tf32_is_really_used_and_only_when_asked() -> None:
    """fp32 values that TF32 cannot hold tell which of the two a product ran in; bf16 values do not."""
    rng = torch.Generator("cuda").manual_seed(0)
    x = torch.randn(64, HIDDEN, device="cuda", generator=rng)
    weight = torch.randn(VOCAB, HIDDEN, device="cuda", generator=rng)
    assert relative_error(x, weight, tf32=False) < 2**-18
    assert 2**-14 < relative_error(x, weight, tf32=True) < 2**-9
    x, weight = x.bfloat16(), weight.bfloat16()
    assert relative_error(x, weight, tf32=True) < 2**-16
    assert matmul_flags()["cuda.matmul"] in {"none", "ieee", "False"}


def test_full_fp32_is_full_where_the_process_allows_tf32() -> None:
    x, weight = torch.randn(64, HIDDEN, device="cuda"), torch.randn(VOCAB, HIDDEN, device="cuda")
    with fp32_matmul_precision(tf32=True):
        allowed = matmul_flags()
        assert relative_error(x, weight, tf32=False) < 2**-18
        assert matmul_flags() == allowed


def test_gradients_in_every_mode() -> None:
    x = torch.randn(256, HIDDEN, device="cuda").bfloat16().requires_grad_()
    weight = (torch.randn(VOCAB, HIDDEN, device="cuda") * HIDDEN**-0.5).bfloat16().requires_grad_()
    a, b = (tensor.detach().double().requires_grad_() for tensor in (x, weight))
    torch.logsumexp(a @ b.t(), -1).sum().backward()
    for tf32 in (False, True):
        x.grad = weight.grad = None
        torch.logsumexp(fp32_linear(x, weight, tf32=tf32), -1).sum().backward()
        for found, exact in ((x.grad, a.grad), (weight.grad, b.grad)):
            assert found is not None
            assert exact is not None
            assert found.dtype == torch.bfloat16
            assert float((found.double() - exact).norm() / exact.norm()) < budgets.GRADIENT


def test_threads_restore_the_flag() -> None:
    x, weight = (torch.randn(rows, 64, device="cuda").bfloat16() for rows in (8, 128))
    before, errors = matmul_flags(), []

    def work(*, tf32: bool) -> None:
        exact = x.double() @ weight.double().t()
        for _ in range(200):
            errors.append(float((fp32_linear(x, weight, tf32=tf32) - exact).abs().max()))
            with fp32_matmul_precision(tf32=not tf32):
                torch.mm(x.float(), weight.float().t())

    threads = [threading.Thread(target=work, kwargs={"tf32": bool(i % 2)}) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert matmul_flags() == before
    assert len(errors) == 4 * 200
    assert max(errors) < 1e-3


class Policy(nn.Module):
    """A head and the loading that reaches it."""

    def __init__(self) -> None:
        super().__init__()
        self.lm_head = nn.Linear(HIDDEN, VOCAB, bias=False, dtype=torch.bfloat16, device="cuda")

    def compute_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        return attach_cached_head(self).logits(hidden)

    def load_weights(self, weights: list[tuple[str, torch.Tensor]]) -> None:
        for name, tensor in weights:
            self.get_parameter(name).data.copy_(tensor)


@torch.no_grad()
def captured(policy: Policy, hidden: torch.Tensor) -> tuple[torch.cuda.CUDAGraph, torch.Tensor]:
    """A graph of the head over ``hidden``, as engines capture it: warmed up on a side stream."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            torch.nn.functional.linear(hidden.float(), policy.lm_head.weight.float())
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        logits = policy.compute_logits(hidden)
    return graph, logits


@pytest.mark.parametrize("built", [True, False], ids=["copy-built-before", "nothing-built-before"])
@torch.no_grad()
def test_a_captured_graph_follows_refits(*, built: bool) -> None:
    """Replayed graphs run no Python: what they read was refreshed, in the storage that they were captured with."""
    policy = Policy()
    heads = WorkerHeads(policy)
    if built:
        heads.refresh()
    address = heads.cached[0].storage_address
    hidden = torch.randn(16, HIDDEN, device="cuda").bfloat16()
    graph, logits = captured(policy, hidden)
    assert heads.cached[0].storage_address == address, "nothing is built under capture"
    for seed in (1, 2):
        rng = torch.Generator("cuda").manual_seed(seed)
        new = torch.randn(VOCAB, HIDDEN, device="cuda", generator=rng).bfloat16()
        with heads.update():
            policy.load_weights([("lm_head.weight", new)])
        graph.replay()
        torch.cuda.synchronize()
        head_now = Head(new.double().cpu().numpy(), np.zeros(VOCAB))
        x = hidden.float().cpu().numpy()
        used = np.abs(logits.cpu().numpy() - head_now.logits(x)) / budgets.logits(head_now, x)
        assert used.max() <= 1.0
        if built:
            assert heads.cached[0].storage_address == address
    eager = policy.compute_logits(hidden)
    assert (eager - logits).abs().max() < 1e-2


def test_refreshing_under_capture_is_refused() -> None:
    policy = Policy()
    cached = attach_cached_head(policy)
    graph, error = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        hidden = torch.zeros(1, HIDDEN, device="cuda", dtype=torch.bfloat16)
        try:
            cached.refresh()
        except StaleHeadError as refused:
            error.append(refused)
        hidden.add_(1)
    assert error
    assert cached.storage_address is None


def test_cost(capsys: pytest.CaptureFixture[str]) -> None:
    """Prints the table; asserted is only that TF32 is not slower than full fp32 at training's sizes."""
    place = ROOT / "benchmarks" / "numerics_head.py"
    spec = importlib.util.spec_from_file_location("numerics_head_benchmark", place)
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = benchmark  # dataclasses look their module up there
    spec.loader.exec_module(benchmark)
    costs = benchmark.measure(((32768, 4096), (131072, 4096)), (1, 64, 4096), "cuda")
    with capsys.disabled():
        print()  # noqa: T201 - the table is asked for
        for cost in costs:
            line = f"{cost.head:16} {cost.vocab:7} x {cost.hidden} rows {cost.rows:5} {cost.milliseconds:9.3f} ms"
            print(f"{line}  held {cost.held / 2**20:6.0f} MiB  during {cost.during / 2**20:6.0f} MiB")  # noqa: T201 - as above
    at = {(cost.head, cost.vocab): cost.milliseconds for cost in costs if cost.rows == 4096}
    for vocab in (32768, 131072):
        assert at["TF32", vocab] < at["per-call upcast", vocab]
