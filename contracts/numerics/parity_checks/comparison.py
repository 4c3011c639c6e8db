"""NU-51x: the four ways of switching two heads, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contracts.level import Level
from contracts.numerics.cases import ParityCase
from contracts.numerics.comparing import WAYS, compare, rounding_dominates
from contracts.numerics.parity_checks import origins
from contracts.numerics.sides import parity

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.numerics.protocols import Pair

#: 3 checkpoints of 12 x 24 tokens each: 864 tokens, over which the rows of the table stand clear of their spread.
CASE = ParityCase(sequences=12, prompt=8, generated=24)
SEEDS = 3


@parity.check("NU-511", source=origins.BOTH, requires={"engines"}, examples=(CASE,))
def both_in_fp32_is_best(check: Check[Pair], pair: Pair, case: ParityCase) -> None:
    """token_mult_prob_error and gen_kl_error are lowest with both heads in fp32.

    Why: if they are not, the feature costs time and gives nothing.

    Usual cause: a switch that reaches one side only; a head that is rounded again afterwards.
    """
    rows = compare(pair, case, SEEDS)
    for metric in ("token_mult_prob_error", "gen_kl_error"):
        means = {way: float(np.mean([run.means[metric] for run in rows[way]])) for way in WAYS}
        best = means.pop("both fp32")
        if not best < min(means.values()):
            raise check.fail(
                f"{metric} is not lowest with both heads in fp32",
                got={"both fp32": best, **means},
                want="both fp32 lowest",
            )


@parity.check("NU-512", source=origins.ONE_SIDE, level=Level.SHOULD, requires={"engines"}, examples=(CASE,))
def one_side_alone_is_worse(check: Check[Pair], pair: Pair, case: ParityCase) -> None:
    """Where bodies differ by less than half a bf16 step, one fp32 head alone raises token_mult_prob_error.

    Why: it is why both sides are switched together, and a pair for which it does not hold has something else wrong:
    two heads that do not round alike, or bodies that differ more than their arithmetic explains.

    Usual cause: a mode that does not do what it says. Outside that regime, and for other metrics, nothing is said.
    """
    rows = compare(pair, case, SEEDS)
    if not rounding_dominates(rows):
        return
    means = {way: float(np.mean([run.means["token_mult_prob_error"] for run in rows[way]])) for way in WAYS}
    if not means["both bf16"] < min(means["rollout only"], means["trainer only"]):
        raise check.fail(
            "one fp32 head alone does not raise the error", got=means, want="both bf16 below one side only"
        )
