"""Defects of a training logger, one file a theme, as the checks are."""

from contracts.metrics_wire.logger_mutants import (
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
