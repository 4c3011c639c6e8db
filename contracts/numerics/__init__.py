"""The seam between the rollout engine's LM head, refitted while it runs, and the trainer's.

``head`` holds one engine, ``parity`` a trainer and a rollout engine together. They are loaded when they
are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contracts.numerics.pair import PairAdapter
    from contracts.numerics.sides import head, parity

__all__ = ["PairAdapter", "head", "parity"]


def __getattr__(name: str) -> Any:
    if name in ("head", "parity"):
        for part in ("checks", "mutants"):
            importlib.import_module(f"{__name__}.{name}_{part}")
        return getattr(importlib.import_module(f"{__name__}.sides"), name)
    if name == "PairAdapter":
        return importlib.import_module(f"{__name__}.pair").PairAdapter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
