"""The reference's engines held to the contract of one engine, and every mutant of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts.numerics import head
from impl.numerics.torch_adapter import TorchAdapter, torch_rollout, torch_trainer

if TYPE_CHECKING:
    from contracts import Check, Control, Mutant

ADAPTERS = {"rollout": torch_rollout, "trainer": torch_trainer}


@pytest.fixture(params=list(ADAPTERS), scope="module")
def adapter(request: pytest.FixtureRequest) -> TorchAdapter:
    return ADAPTERS[request.param]()


@head.parametrize()
def test_check(adapter: TorchAdapter, check: Check[Any]) -> None:
    check.verify(adapter, profile="smoke")


@head.parametrize_mutants()
def test_mutant(adapter: TorchAdapter, mutant: Mutant[Any]) -> None:
    mutant.verify_killed(adapter)


@head.parametrize_controls()
def test_control(adapter: TorchAdapter, control: Control[Any]) -> None:
    control.verify_held(adapter)
