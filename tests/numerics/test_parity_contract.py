"""The reference's pair held to the contract of a pair, and every mutant of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts.numerics import parity
from impl.numerics.adapter import TorchPair

if TYPE_CHECKING:
    from contracts import Check, Control, Mutant


@pytest.fixture(scope="module")
def adapter() -> TorchPair:
    return TorchPair()


@parity.parametrize()
def test_check(adapter: TorchPair, check: Check[Any]) -> None:
    check.verify(adapter, profile="smoke")


@parity.parametrize_mutants()
def test_mutant(adapter: TorchPair, mutant: Mutant[Any]) -> None:
    mutant.verify_killed(adapter)


@parity.parametrize_controls()
def test_control(adapter: TorchPair, control: Control[Any]) -> None:
    control.verify_held(adapter)
