"""Defects of a Jobs service, one file a theme, as the checks are."""

from contracts.metrics_wire.service_mutants import (
    appending,
    capabilities,
    document,
    durability,
    isolation,
    keeping,
    refusing,
    token,
    updates,
    writers,
)

__all__ = [
    "appending",
    "capabilities",
    "document",
    "durability",
    "isolation",
    "keeping",
    "refusing",
    "token",
    "updates",
    "writers",
]
