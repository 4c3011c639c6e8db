"""The mutants of an endpoint, file by file beside the checks that must catch them."""

from contracts.gym_overflow.endpoint_mutants import (
    capabilities,
    clamp,
    faults,
    prompts,
    repetition,
    shape,
    silence,
    variants,
    window,
)

__all__ = ["capabilities", "clamp", "faults", "prompts", "repetition", "shape", "silence", "variants", "window"]
