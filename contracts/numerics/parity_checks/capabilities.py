"""NU-711: what a pair does not declare is absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contracts.level import Level
from contracts.numerics.parity_checks import origins
from contracts.numerics.sides import PARITY_CAPABILITIES, parity

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.numerics.protocols import Pair


@parity.check("NU-711", level=Level.SHOULD, source=origins.DECLARED, examples=tuple(PARITY_CAPABILITIES))
def undeclared_means_absent(check: Check[Pair], pair: Pair, case: str) -> None:
    """A capability that is not declared is not there.

    Why: metrics or a validation that exist and are not declared are used and held to nothing.

    Usual cause: a capability left out of the adapter to silence a check.
    """
    if case in pair.capabilities:
        return
    if case == "engines":
        served = hasattr(pair, "train") or hasattr(pair, "rollout")
    elif case == "refit":
        sides = (pair.train, pair.rollout) if "engines" in pair.capabilities else ()
        served = bool(sides) and all({"refit", "direct"} <= side.capabilities for side in sides)
    else:
        served = _answers(pair, case)
    if served:
        raise check.fail(f"{case} is not declared and was served", got="no error", want=PARITY_CAPABILITIES[case])


def _answers(pair: Pair, capability: str) -> bool:
    """Whether a method of the capability returns."""
    ones = np.ones((1, 2))
    try:
        if capability == "metrics":
            pair.mismatch(-ones, -ones, ones)
        elif capability == "global_count":
            pair.mismatch(-ones, -ones, ones, global_valid_tokens=4)
        elif capability == "sequence_mask":
            pair.keep_sequences(-ones, -ones, ones, threshold=2.0)
        else:
            pair.validate({})
    except Exception:  # noqa: BLE001 - absent or refusing, both are right
        return False
    return True
