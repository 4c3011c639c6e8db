"""NU-61x: masks, what is not finite, and which sequences are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contracts.level import Level
from contracts.numerics import strategies
from contracts.numerics.parity_checks import origins
from contracts.numerics.parity_checks.metrics import TURNS, arrays, reported
from contracts.numerics.sides import parity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from contracts.check import Check
    from contracts.numerics.cases import MetricsCase
    from contracts.numerics.protocols import F64, Pair

POISON = (-np.inf, np.inf, np.nan)
THRESHOLD = 1.5


@parity.check("NU-611", source=origins.METRICS, requires={"metrics"}, examples=(TURNS,), cases=strategies.batches)
def masked_tokens_do_not_count(check: Check[Pair], pair: Pair, case: MetricsCase) -> None:
    """What stands in masked tokens, an infinity or NaN too, changes nothing.

    Why: prompts, tool turns and padding have no logprobs, and what stands there is whatever was there.

    Usual cause: multiplying by the mask, which turns a masked infinity into NaN; a mask shifted by one.
    """
    lp_gen, lp_train, mask = arrays(case)
    want = pair.mismatch(lp_gen, lp_train, mask)
    for poison in POISON:
        spoilt = [np.where(mask == 0, poison, side) for side in (lp_gen, lp_train)]
        got = pair.mismatch(spoilt[0], spoilt[1], mask)
        wrong = {name: got[name] for name in reported(want) if got[name] != want[name]}
        if wrong:
            raise check.fail("masked tokens change a mean", got=wrong, want={n: want[n] for n in wrong}, masked=poison)


@parity.check("NU-612", source=origins.METRICS, requires={"metrics"}, examples=(TURNS,))
def no_tokens_is_no_number(check: Check[Pair], pair: Pair, case: MetricsCase) -> None:
    """A batch in which every token is masked has no error: asking for it raises, or gives no finite number.

    Why: the naive forms give 0.0, which is better than perfect and passes every threshold.

    Usual cause: a sum over max(count, 1).
    """
    lp_gen, lp_train, mask = arrays(case)
    try:
        got = pair.mismatch(lp_gen, lp_train, np.zeros_like(mask))
    except Exception:  # noqa: BLE001 - that it raises is the claim
        return
    if finite := {name: got[name] for name in reported(got) if np.isfinite(got[name])}:
        raise check.fail("an error was computed from no tokens", got=finite, want="an exception, or NaN")


@parity.check("NU-613", source=origins.METRICS, requires={"metrics"}, examples=(TURNS,))
def nonfinite_tokens_are_not_hidden(check: Check[Pair], pair: Pair, case: MetricsCase) -> None:
    """A valid token that is infinite or NaN, on either side, is not hidden: it raises, or some mean is not finite.

    Why: a token dropped or clamped for it hides the breakage that made it, and every number looks fine.

    Usual cause: nan_to_num, nanmean, clamps, or a comparison with NaN that is quietly false.
    """
    for token, side, got in _of_nonfinite(pair, case):
        if got is not None and all(np.isfinite(got[name]) for name in reported(got)):
            raise check.fail(
                "a token that is not finite left no trace", got=got, want="an exception, or NaN", token=token, side=side
            )


@parity.check("NU-615", level=Level.SHOULD, source=origins.METRICS, requires={"metrics"}, examples=(TURNS,))
def nonfinite_tokens_are_loud(check: Check[Pair], pair: Pair, case: MetricsCase) -> None:
    """A valid token that is infinite or NaN raises, on either side.

    Why: a NaN mean is plotted as a gap, which reads as a step that was not logged.

    Usual cause: arithmetic that carries on, and nobody who looks.
    """
    for token, side, got in _of_nonfinite(pair, case):
        if got is not None:
            raise check.fail(
                "a token that is not finite was averaged", got=got, want="an exception", token=token, side=side
            )


def _of_nonfinite(pair: Pair, case: MetricsCase) -> Iterator[tuple[float, int, Mapping[str, float] | None]]:
    """The token, its side, and what the pair makes of a batch with it: None where it raises."""
    lp_gen, lp_train, mask = arrays(case)
    row, column = (int(i[0]) for i in np.nonzero(mask))
    for poison in POISON:
        for side in (0, 1):
            sides = [lp_gen.copy(), lp_train.copy()]
            sides[side][row, column] = poison
            try:
                got = pair.mismatch(sides[0], sides[1], mask)
            except Exception:  # noqa: BLE001 - raising is right, and how is the pair's own
                got = None
            yield poison, side, got


def _rows() -> tuple[F64, F64, F64, list[bool]]:
    """Sequences that are fine, above the threshold, NaN and empty; and which to keep."""
    lp_gen = np.full((5, 4), -1.0)
    gaps = np.array([[0.1] * 4, [0.0, 0.0, 0.0, 2.0], [0.0] * 4, [0.0] * 4, [9.0, 0.0, 0.0, 0.0]])
    mask = np.array([[1] * 4, [1] * 4, [1] * 4, [0] * 4, [0, 1, 1, 1]], dtype=np.float64)
    lp_train = lp_gen + gaps
    lp_train[2, 1] = np.nan
    return lp_gen, lp_train, mask, [True, False, False, False, True]


@parity.check("NU-614", source=origins.OUTLIERS, requires={"sequence_mask"}, examples=(THRESHOLD,))
def sequences_are_dropped_for_a_reason(check: Check[Pair], pair: Pair, case: float) -> None:
    """Kept are exactly the sequences with tokens, all finite, whose own mean is at most the threshold.

    Why: this is what keeps a broken rollout out of the gradient, sequence by sequence.

    Usual cause: a mean over padding, which thins an outlier out; a masked token that counts.
    """
    lp_gen, lp_train, mask, want = _rows()
    got = [bool(kept) for kept in pair.keep_sequences(lp_gen, lp_train, mask, threshold=case)]
    if got != want:
        raise check.fail("other sequences are kept", got=got, want=want)
