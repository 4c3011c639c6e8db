"""The mutants of a pair, file by file as the checks; importing this registers them."""

from contracts.numerics.parity_mutants import (
    batching,
    capabilities,
    comparison,
    configuration,
    masking,
    metrics,
    tokens,
)

__all__ = ["batching", "capabilities", "comparison", "configuration", "masking", "metrics", "tokens"]
