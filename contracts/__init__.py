"""Executable contracts for the joints of a reinforcement-learning post-training stack.

Importing this package loads nothing heavy: names and rooms are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.contract import Contract
    from contracts.failure import CheckCrashed, ContractFailure, NotDeclared
    from contracts.known import KnownFailure
    from contracts.level import Level
    from contracts.mutant import Control, Mutant, Wrapper
    from contracts.report.records import Outcome
    from contracts.report.report import Report
    from contracts.rooms import load
    from contracts.source import Source
    from contracts.verification import verify, verify_mutants

_HOMES = {
    "Check": "check",
    "CheckCrashed": "failure",
    "Contract": "contract",
    "ContractFailure": "failure",
    "Control": "mutant",
    "KnownFailure": "known",
    "Level": "level",
    "Mutant": "mutant",
    "NotDeclared": "failure",
    "Outcome": "report.records",
    "Report": "report.report",
    "Source": "source",
    "Wrapper": "mutant",
    "load": "rooms",
    "verify": "verification",
    "verify_mutants": "verification",
}
_ROOMS = ("gym_overflow", "metrics_wire", "numerics")

__all__ = [
    "Check",
    "CheckCrashed",
    "Contract",
    "ContractFailure",
    "Control",
    "KnownFailure",
    "Level",
    "Mutant",
    "NotDeclared",
    "Outcome",
    "Report",
    "Source",
    "Wrapper",
    "load",
    "verify",
    "verify_mutants",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"contracts.{_HOMES[name]}"), name)
    if name in _ROOMS:
        return importlib.import_module(f"contracts.{name}")
    raise AttributeError(f"module 'contracts' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_ROOMS})
