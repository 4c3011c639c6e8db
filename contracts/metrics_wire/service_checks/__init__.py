"""The checks of a Jobs service, one module a theme: the tens digit of an id names it.

90x durability, 91x updates, 92x writers, 93x appending, 94x keeping, 95x refusing, 96x the document, 97x the token,
98x isolation, 99x capabilities.
"""

from contracts.metrics_wire.service_checks import (
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
