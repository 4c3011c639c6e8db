"""The checks of trainer and rollout together, a theme a file; importing this registers them."""

from contracts.numerics.parity_checks import batching, comparison, configuration, masking, metrics, tokens

__all__ = ["batching", "comparison", "configuration", "masking", "metrics", "tokens"]
