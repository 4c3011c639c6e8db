"""The reference's pair held to the contract of a pair, and every mutant of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts.numerics import parity
from impl.numerics.adapter import ReferencePair
from impl.numerics.adapter import parity as reference

if TYPE_CHECKING:
    from contracts import Check, Control, Mutant


@pytest.fixture(scope="module")
def adapter() -> ReferencePair:
    return reference()


@parity.parametrize()
def test_check(adapter: ReferencePair, check: Check[Any]) -> None:
    check.verify(adapter, profile="smoke")


@parity.parametrize_mutants()
def test_mutant(adapter: ReferencePair, mutant: Mutant[Any]) -> None:
    mutant.verify_killed(adapter)


@parity.parametrize_controls()
def test_control(adapter: ReferencePair, control: Control[Any]) -> None:
    control.verify_held(adapter)
