"""The checks of trainer and rollout together, a theme a file; importing this registers them."""

from contracts.numerics.parity_checks import batching, capabilities, comparison, configuration, masking, metrics, tokens

__all__ = ["batching", "capabilities", "comparison", "configuration", "masking", "metrics", "tokens"]
