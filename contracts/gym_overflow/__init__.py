"""The seam between a chat endpoint that hits its context window and NeMo Gym's out-of-context classifier.

``endpoint`` and ``classifier`` are the contracts. They are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contracts.gym_overflow.sides import classifier, endpoint

__all__ = ["classifier", "endpoint"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        for part in ("checks", "mutants"):
            importlib.import_module(f"{__name__}.{name}_{part}")
        return getattr(importlib.import_module(f"{__name__}.sides"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
