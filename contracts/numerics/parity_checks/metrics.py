"""NU-60x: the mismatch metrics, against their definitions in fp64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contracts.level import Level
from contracts.numerics import strategies
from contracts.numerics.cases import MetricsCase
from contracts.numerics.oracle import MEANS, mismatch
from contracts.numerics.parity_checks import origins
from contracts.numerics.sides import parity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.check import Check
    from contracts.numerics.protocols import F64, Pair

#: Ten times what the usual guard against an empty mask costs, 1e-8 beside the count; fp64 sums cost far less.
RELATIVE = 1e-7
#: Some roundings of numbers around 1, which is what exp(r) - r - 1 is made of where it is written so, in fp64.
ABSOLUTE = 1e-15

TURNS = MetricsCase(
    lp_gen=((-1.0, -2.5, -0.3, -4.0), (-0.7, -9.0, -3.0, -1.5)),
    gaps=((0.3, -0.2, 0.05, 1.0), (-0.4, 0.6, 1e-4, -2.0)),
    mask=((0, 1, 1, 1), (0, 0, 1, 0)),
)
EQUAL = MetricsCase(lp_gen=((-2.0, -0.5), (-1.0, -3.0)), gaps=((0.0, 0.0),) * 2, mask=((1, 1), (0, 1)))
TINY = MetricsCase(lp_gen=((-2.0, -2.0),), gaps=((1e-4, -1e-4),), mask=((1, 1),))
OUTLIER = MetricsCase(lp_gen=((-1.0,) * 40,), gaps=((0.001,) * 39 + (-3.0,),), mask=((1,) * 40,))

HUGE = MetricsCase(lp_gen=((-0.5, -1.0, -62.0),), gaps=((-60.0, 0.0, 60.0),), mask=((1, 1, 1),))
TURNS_AND_NONE = MetricsCase(TURNS.lp_gen, TURNS.gaps, ((0, 0, 0, 0), TURNS.mask[0]))


def arrays(case: MetricsCase) -> tuple[F64, F64, F64]:
    """``lp_gen``, ``lp_train`` and mask of a case."""
    lp_gen = np.array(case.lp_gen, dtype=np.float64)
    return lp_gen, lp_gen + np.array(case.gaps), np.array(case.mask, dtype=np.float64)


def reported(found: Mapping[str, float]) -> list[str]:
    """The means that a pair has; that it should have all of them is said by NU-605 alone."""
    return [name for name in MEANS if name in found]


@parity.check(
    "NU-601",
    source=origins.METRICS,
    requires={"metrics"},
    examples=(TURNS, TINY, OUTLIER, HUGE),
    cases=strategies.batches,
)
def means_equal_their_definitions(check: Check[Pair], pair: Pair, case: MetricsCase) -> None:
    """Each mean that is reported equals its definition in fp64 over the valid tokens.

    Why: a run is steered by these numbers, and two definitions of one name make two runs incomparable.

    Usual cause: fp32 sums, exp(r) - r - 1 as it stands, a clamped ratio, a mean over padding, means of rows' means.
    """
    lp_gen, lp_train, mask = arrays(case)
    got, want = pair.mismatch(lp_gen, lp_train, mask), mismatch(lp_gen, lp_train, mask)
    if not reported(got):
        raise check.fail("no mean is reported", got=dict(got), want=f"some of {', '.join(MEANS)}")
    for name in reported(got):
        if not abs(got[name] - want[name]) <= RELATIVE * abs(want[name]) + ABSOLUTE:
            raise check.fail(f"{name} is not its definition", got=got[name], want=want[name])


@parity.check("NU-602", source=origins.METRICS, requires={"metrics"}, examples=(TINY,))
def small_gaps_do_not_vanish(check: Check[Pair], pair: Pair, case: MetricsCase) -> None:
    """Gaps of 1e-4 nats give a gen_kl_error of 5.0e-9, not zero.

    Why: with both heads in fp32 this is where the error lies, and zero reads as perfect.

    Usual cause: exp(r) - r - 1 in fp32, where all of it cancels.
    """
    lp_gen, lp_train, mask = arrays(case)
    found, want = pair.mismatch(lp_gen, lp_train, mask), 5.0e-9
    if (got := found.get("gen_kl_error")) is not None and not abs(got - want) <= 0.01 * want:
        raise check.fail("a small divergence is lost", got=got, want=want)


@parity.check("NU-603", level=Level.SHOULD, source=origins.OUTLIERS, requires={"metrics"}, examples=(OUTLIER, TURNS))
def largest_gap_is_reported(check: Check[Pair], pair: Pair, case: MetricsCase) -> None:
    """The largest gap is reported beside the means.

    Why: one token of forty off by 3 nats moves gen_kl_error by 0.05 and is a broken token all the same.

    Usual cause: only means are logged.
    """
    lp_gen, lp_train, mask = arrays(case)
    got, want = (
        pair.mismatch(lp_gen, lp_train, mask).get("largest_gap"),
        mismatch(lp_gen, lp_train, mask)["largest_gap"],
    )
    if got is None or not abs(got - want) <= RELATIVE * want:
        raise check.fail("the largest gap is not reported", got=got, want=want)


@parity.check(
    "NU-604",
    source=origins.METRICS,
    requires={"metrics", "global_count"},
    examples=(TURNS, TURNS_AND_NONE),
    cases=strategies.batches,
)
def parts_sum_to_the_whole(check: Check[Pair], pair: Pair, case: MetricsCase) -> None:
    """Means of microbatches, taken over the batch's number of valid tokens, sum to the batch's.

    Why: the value must not depend on how a batch was cut, nor on how many ranks there are.

    Usual cause: a mean of means, which gives short microbatches the weight of long ones.
    """
    lp_gen, lp_train, mask = arrays(case)
    valid = int(mask.sum())
    parts = [
        pair.mismatch(lp_gen[i : i + 1], lp_train[i : i + 1], mask[i : i + 1], global_valid_tokens=valid)
        for i in range(len(mask))
    ]
    whole = mismatch(lp_gen, lp_train, mask)
    for name in reported(parts[0]):
        got = sum(part[name] for part in parts)
        if not abs(got - whole[name]) <= RELATIVE * abs(whole[name]) + ABSOLUTE:
            raise check.fail(f"{name} of the parts does not sum to that of the whole", got=got, want=whole[name])


@parity.check("NU-605", level=Level.SHOULD, source=origins.METRICS, requires={"metrics"}, examples=(TURNS,))
def every_mean_is_reported(check: Check[Pair], pair: Pair, case: MetricsCase) -> None:
    """All five means are reported.

    Why: each shows what another hides: outliers dominate the one, vanish in the other, and a sign is lost in a third.

    Usual cause: one estimator taken for the mismatch.
    """
    lp_gen, lp_train, mask = arrays(case)
    got = reported(pair.mismatch(lp_gen, lp_train, mask))
    if missing := [name for name in MEANS if name not in got]:
        raise check.fail("means are missing", got=got, want=missing)
