"""The mutants of a pair, file by file as the checks; importing this registers them."""

from contracts.numerics.parity_mutants import batching, comparison, configuration, masking, metrics, tokens

__all__ = ["batching", "comparison", "configuration", "masking", "metrics", "tokens"]
