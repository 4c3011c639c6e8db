"""The checks of one engine, a theme a file; importing this registers them."""

from contracts.numerics.head_checks import (
    capabilities,
    drafting,
    failed_refits,
    lifecycle,
    loudness,
    parameters,
    precision,
    repeated_refits,
    shapes,
    tf32,
    training,
    transports,
)

__all__ = [
    "capabilities",
    "drafting",
    "failed_refits",
    "lifecycle",
    "loudness",
    "parameters",
    "precision",
    "repeated_refits",
    "shapes",
    "tf32",
    "training",
    "transports",
]
