"""Checks of a training logger, one file a theme."""

from contracts.metrics_wire.logger_checks import (
    cost,
    delivery,
    ending,
    isolation,
    machine,
    naming,
    numbering,
    persistence,
    resuming,
    routing,
    runner,
    teardown,
    values,
)

__all__ = [
    "cost",
    "delivery",
    "ending",
    "isolation",
    "machine",
    "naming",
    "numbering",
    "persistence",
    "resuming",
    "routing",
    "runner",
    "teardown",
    "values",
]
