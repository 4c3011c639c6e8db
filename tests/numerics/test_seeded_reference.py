"""Defects seeded inside the reference's own code, not at the protocol: the contract finds each of them.

A mutant makes staleness from outside. Here the invalidation itself is removed, hook by hook, so what is shown is
that each hook is load-bearing and that the checks see it missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from contracts import ContractFailure
from contracts.numerics import head
from contracts.numerics.cases import ForwardCase, RefitCase
from impl.numerics import cached_head, fp32_linear, refit_hooks, torch_engine
from impl.numerics.cached_head import CachedHead
from impl.numerics.prefix_cache import PrefixCache
from impl.numerics.torch_adapter import TorchAdapter, torch_rollout, torch_trainer

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL_STEP = RefitCase(updates=("step",))
TRANSPORTS = {"direct": "NU-301", "collective": "NU-302", "checkpoint": "NU-303", "delta": "NU-304"}


def fails(check: str, adapter: TorchAdapter, case: object = None) -> bool:
    """Whether exactly this check fails, by its own code."""
    try:
        head[check].verify(adapter, case=case)
    except ContractFailure as failure:
        return failure.code == check
    return False


def nothing(*_arguments: object, **_options: object) -> None:
    """Stands where a step was."""


@pytest.mark.parametrize(("transport", "check"), TRANSPORTS.items())
def test_without_any_invalidation_every_transport_goes_stale(
    transport: str, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not fails(check, torch_rollout(), SMALL_STEP)
    monkeypatch.setattr(CachedHead, "invalidate", nothing)
    monkeypatch.setattr(refit_hooks.WorkerHeads, "refresh", nothing)
    assert fails(check, torch_rollout(), SMALL_STEP), transport


@pytest.mark.parametrize(("transport", "check"), TRANSPORTS.items())
def test_which_hook_carries_which_transport(transport: str, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the lifecycle only the delta writer goes stale; the leaf of loading carries the others."""
    monkeypatch.setattr(refit_hooks.WorkerHeads, "invalidate", nothing)
    monkeypatch.setattr(refit_hooks.WorkerHeads, "refresh", nothing)
    assert fails(check, torch_rollout(), SMALL_STEP) == (transport == "delta")


def test_the_leaf_carries_the_checkpoint_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no lifecycle around it, so without leaf and final refresh it goes stale."""
    monkeypatch.setattr(refit_hooks, "watch_load_weights", nothing)
    monkeypatch.setattr(refit_hooks.WorkerHeads, "refresh", nothing)
    assert fails("NU-303", torch_rollout(), SMALL_STEP)
    assert not fails("NU-304", torch_rollout(), SMALL_STEP)


def test_a_mark_at_the_begin_alone_is_consumed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The forward between two batches refreshes from half an update; only the mark at the end repairs that."""
    count = {"marks": 0}
    original = CachedHead.invalidate

    def only_first(cached: CachedHead) -> None:
        count["marks"] += 1
        if count["marks"] == 1:
            original(cached)

    engine_start = torch_engine.TorchEngine.refit

    def refit(engine: Any, *arguments: Any, **options: Any) -> None:
        count["marks"] = 0
        engine_start(engine, *arguments, **options)

    monkeypatch.setattr(CachedHead, "invalidate", only_first)
    monkeypatch.setattr(refit_hooks.WorkerHeads, "refresh", nothing)
    monkeypatch.setattr(torch_engine.TorchEngine, "refit", refit)
    assert fails("NU-305", torch_rollout())


def test_a_copy_in_new_storage_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    original = CachedHead.refresh

    def rebuild(cached: CachedHead) -> float | None:
        cached._copy = None  # noqa: SLF001 - the defect itself
        return original(cached)

    monkeypatch.setattr(CachedHead, "refresh", rebuild)
    assert fails("NU-314", torch_rollout())


def test_a_copy_registered_as_parameter_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    original = CachedHead.refresh

    def register(cached: CachedHead) -> float | None:
        drift = original(cached)
        cached.lm_head.weight_fp32 = torch.nn.Parameter(cached._copy)  # noqa: SLF001 - the defect
        return drift

    monkeypatch.setattr(CachedHead, "refresh", register)
    assert fails("NU-211", torch_rollout())


def test_a_prefix_cache_that_is_kept_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PrefixCache, "clear", nothing)
    assert fails("NU-331", torch_rollout())


def test_a_detached_copy_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def on_a_copy(x: torch.Tensor, weight: torch.Tensor, *rest: Any, **options: Any) -> torch.Tensor:
        return fp32_linear.fp32_linear(x, weight.detach().clone(), *rest, **options)

    monkeypatch.setattr("impl.numerics.llama.fp32_linear", on_a_copy)
    assert fails("NU-201", torch_trainer())


@pytest.mark.parametrize("check", ["NU-121", "NU-122"])
def test_a_leaking_tf32_scope_is_found(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.backends.cuda.matmul.fp32_precision

    class Leak:
        def __init__(self, *, tf32: bool) -> None:
            self.value = "tf32" if tf32 else "ieee"

        def __enter__(self) -> None:
            torch.backends.cuda.matmul.fp32_precision = self.value

        def __exit__(self, *_exception: object) -> None:
            """The restoring is what is left out."""

    def broken_forward(_engine: Any, tokens: torch.Tensor, *_rest: Any) -> Any:
        Leak(tf32=True).__enter__()
        raise IndexError(f"{tokens} is outside")

    monkeypatch.setattr(fp32_linear, "fp32_matmul_precision", Leak)
    if check == "NU-122":
        monkeypatch.setattr(torch_engine.TorchEngine, "_forward", broken_forward)
    try:
        assert fails(check, torch_trainer())
    finally:
        torch.backends.cuda.matmul.fp32_precision = before


def test_a_missing_check_for_quantized_heads_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (cached_head, torch_engine):
        monkeypatch.setattr(module, "refuse_quantized_layer", nothing)
    assert fails("NU-402", torch_rollout())


def _rounded(adapter: TorchAdapter, monkeypatch: pytest.MonkeyPatch, target: Any, name: str) -> TorchAdapter:
    original: Callable[..., torch.Tensor] = getattr(target, name)
    monkeypatch.setattr(target, name, lambda *a, **k: original(*a, **k).bfloat16().float())
    return adapter


def test_logits_rounded_after_the_product_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rounded = _rounded(torch_rollout(), monkeypatch, CachedHead, "logits")
    assert fails("NU-102", rounded, ForwardCase())
    assert fails("NU-103", rounded, ForwardCase())
    assert fails("NU-105", rounded, ForwardCase())
