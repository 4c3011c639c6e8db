"""The seam between a training loop's logger, the Jobs service that stores what it reports, and the chart that reads it.

``logger`` and ``service`` are the contracts of its two sides. Each is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contracts.metrics_wire.sides import logger, service

__all__ = ["logger", "service"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        for part in ("checks", "mutants"):
            importlib.import_module(f"{__name__}.{name}_{part}")
        return getattr(importlib.import_module(f"{__name__}.sides"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
