"""NU-34x: a drafter beside the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics import budgets
from contracts.numerics.cases import ForwardCase, RefitCase
from contracts.numerics.head_checks import origins
from contracts.numerics.head_checks.refitting import Chain
from contracts.numerics.observation import running
from contracts.numerics.oracle import Head
from contracts.numerics.protocols import DRAFTER, HEAD, HeadShape
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.numerics.protocols import EngineAdapter

SHAPE = HeadShape(drafter=True)


@head.check("NU-341", source=origins.DRAFTERS, requires={"drafter"}, examples=(ForwardCase(), ForwardCase(seed=8)))
def drafter_uses_its_own_head(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """A drafter's logits are its own hidden states times its own head, to the rounding of their dtype.

    Why: a drafter that reads the policy's copy proposes tokens that are then rejected: slower, and no error.

    Usual cause: one cached copy found by attribute name on whichever module asks.
    """
    weights, tokens = adapter.checkpoint(case.seed, SHAPE), case.tokens(adapter.vocab)
    with running(adapter, weights, shape=SHAPE) as engine:
        draft = engine.draft(tokens)
    own = Head(np.asarray(weights[DRAFTER + HEAD], dtype=np.float64), np.zeros(adapter.vocab))
    exact = own.logits(draft.hidden)
    unit = 0.0 if draft.dtype == "float32" else budgets.BF16_UNIT
    used = np.abs(draft.logits - exact) / (budgets.logits(own, draft.hidden) + unit * np.abs(exact))
    if not used.max() <= 1.0:
        raise check.fail(
            "a drafter's logits are not its own head's",
            got=f"{used.max():.3g} times the budget",
            want="at most the budget",
        )


@head.check(
    "NU-342",
    source=origins.DRAFTERS,
    requires={"drafter", "refit"},
    examples=(RefitCase(), RefitCase(updates=("new", "step"), dummy=True)),
)
def drafter_follows_refits(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """After a refit that carries both, policy and drafter answer as freshly started ones, by every transport.

    Why: a drafter left behind accepts less with every step.

    Usual cause: the drafter's weight stream loaded into the policy only, or its copy never invalidated.
    """
    for transport in sorted(Chain.transports(adapter)):
        Chain(adapter, case, transport, SHAPE).hold(check)
