"""Switches that do nothing."""

from __future__ import annotations

from typing import Any

from contracts.numerics.pair_defects import StaysBf16, sides
from contracts.numerics.sides import parity


@parity.mutant("NU-M511a", killed_by="NU-511")
def rollout_switch_is_dead(pair: Any) -> Any:
    """leaves the rollout engine's head in bf16 whatever is asked"""
    return sides(rollout=StaysBf16)(pair)


@parity.mutant("NU-M511b", killed_by="NU-511")
def trainer_switch_is_dead(pair: Any) -> Any:
    """leaves the trainer's head in bf16 whatever is asked"""
    return sides(train=StaysBf16)(pair)


@parity.mutant("NU-M511c", killed_by="NU-511")
def both_switches_are_dead(pair: Any) -> Any:
    """leaves both heads in bf16 whatever is asked"""
    return sides(train=StaysBf16, rollout=StaysBf16)(pair)


@parity.mutant("NU-M512a", killed_by="NU-512")
def one_side_is_no_side(pair: Any) -> Any:
    """leaves the rollout engine's head in bf16 whatever is asked"""
    return sides(rollout=StaysBf16)(pair)
