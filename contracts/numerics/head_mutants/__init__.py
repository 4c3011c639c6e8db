"""The mutants of one engine, file by file as the checks; importing this registers them."""

from contracts.numerics.head_mutants import (
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
