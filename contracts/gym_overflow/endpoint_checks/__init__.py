"""The checks of an endpoint, one module a theme: the hundreds digit of an id names it.

1xx the window, 2xx precision, 3xx shape, 4xx capabilities.
"""

from contracts.gym_overflow.endpoint_checks import (
    capabilities,
    clamp,
    faults,
    metamorphic,
    prompts,
    repetition,
    schema,
    shape,
    silence,
    variants,
    window,
)

__all__ = [
    "capabilities",
    "clamp",
    "faults",
    "metamorphic",
    "prompts",
    "repetition",
    "schema",
    "shape",
    "silence",
    "variants",
    "window",
]
