"""Checks of a training logger, one file a theme."""

from contracts.metrics_wire.logger_checks import (
    capabilities,
    cost,
    delivery,
    ending,
    isolation,
    machine,
    naming,
    numbering,
    numbers,
    persistence,
    resuming,
    routing,
    runner,
    teardown,
    values,
)

__all__ = [
    "capabilities",
    "cost",
    "delivery",
    "ending",
    "isolation",
    "machine",
    "naming",
    "numbering",
    "numbers",
    "persistence",
    "resuming",
    "routing",
    "runner",
    "teardown",
    "values",
]
