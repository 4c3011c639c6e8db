"""verl's mismatch metrics beside the reference's, number by number: what agrees, and what does not and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from impl.numerics.adapter import ReferencePair
from impl.numerics.torch_adapter import torch_rollout, torch_trainer

if TYPE_CHECKING:
    from numpy.typing import NDArray

pytestmark = [
    pytest.mark.third_party("verl", "ray", "tensordict"),
    # Others' deprecations are theirs.
    pytest.mark.filterwarnings("default"),
]

INF, NAN = math.inf, math.nan
OURS = {"k3_kl": "gen_kl_error", "rollout_is_mean": "sampling_importance_ratio"}

Metric = Literal["k3_kl", "rollout_is_mean"]


@dataclass(frozen=True)
class Tokens:
    """One batch of sampled tokens; a NaN or infinite gap makes the trainer's logprob one."""

    lp_gen: tuple[tuple[float, ...], ...]
    gaps: tuple[tuple[float, ...], ...]
    mask: tuple[tuple[int, ...], ...]

    def arrays(self, dtype: type[np.floating]) -> tuple[NDArray[np.floating], ...]:
        """lp_gen, lp_train and mask."""
        gen = np.array(self.lp_gen)
        return gen.astype(dtype), (gen + np.array(self.gaps)).astype(dtype), np.array(self.mask, dtype=dtype)


TURNS = Tokens(
    ((-1.0, -2.5, -0.3, -4.0), (-0.7, -9.0, -3.0, -1.5)),
    ((0.3, -0.2, 0.05, 1.0), (-0.4, 0.6, 1e-4, -2.0)),
    ((0, 1, 1, 1), (0, 0, 1, 0)),
)
TINY = Tokens(((-2.0, -2.0),), ((1e-4, -1e-4),), ((1, 1),))
MASKED = Tokens(((-INF, -2.0),), ((0.0, 0.1),), ((0, 1),))
NOTHING = Tokens(((-1.0, -2.0),), ((0.3, 0.1),), ((0, 0),))
IMPOSSIBLE = Tokens(((-1.0, -2.0),), ((-INF, 0.1),), ((1, 1),))
UNKNOWN = Tokens(((-1.0, -2.0),), ((NAN, 0.1),), ((1, 1),))
HUGE = Tokens(((-0.5, -1.0, -62.0),), ((-60.0, 0.0, 60.0),), ((1, 1, 1),))


@dataclass(frozen=True)
class Row:
    """One number of verl's beside ours.

    Attributes:
        tokens: name of the batch.
        metric: verl's name of the number.
        verl: what verl gives in fp64; a name for the error that it raises.
        ours: what the reference gives; a name for the error that it raises.
        why: why they differ, or would in fp32, in which verl computes; empty where they agree.
    """

    tokens: str
    metric: Metric
    verl: float | str
    ours: float | str
    why: str = ""


#: fp32 rounds logprobs around 2 by 1e-7, of which a gap of 0.1 nats, squared and halved, keeps four digits.
FP32 = 1e-4

BATCHES = {
    "turns, masked": TURNS,
    "gaps of 1e-4": TINY,
    "-inf, masked": MASKED,
    "all masked": NOTHING,
    "-inf, valid": IMPOSSIBLE,
    "NaN, valid": UNKNOWN,
    "60 nats apart": HUGE,
}
ROWS = (
    Row("turns, masked", "k3_kl", 0.184570920728, 0.184570920728),
    Row("turns, masked", "rollout_is_mean", 1.397095920728, 1.397095920728),
    Row("gaps of 1e-4", "k3_kl", 5.0e-9, 5.0e-9, "in fp32 exp(r) - r - 1 cancels; expm1(r) - r in fp64 does not"),
    Row("gaps of 1e-4", "rollout_is_mean", 1.000000005, 1.000000005),
    Row("-inf, masked", "k3_kl", 0.00517091808, 0.00517091808),
    Row("-inf, masked", "rollout_is_mean", 1.10517091808, 1.10517091808),
    Row("all masked", "k3_kl", "AssertionError", "NoTokensError"),
    Row("all masked", "rollout_is_mean", "ValueError", "NoTokensError"),
    Row("-inf, valid", "k3_kl", INF, "NonFiniteLogprobError", "verl carries on, and its number says so"),
    Row(
        "-inf, valid",
        "rollout_is_mean",
        0.55258545907,
        "NonFiniteLogprobError",
        "clamped to e^-20: the token that the trainer calls impossible leaves no trace in verl's mean",
    ),
    Row("NaN, valid", "k3_kl", NAN, "NonFiniteLogprobError", "verl carries on, and its number says so"),
    Row("NaN, valid", "rollout_is_mean", NAN, "NonFiniteLogprobError", "verl carries on, and its number says so"),
    Row("60 nats apart", "k3_kl", 3.80669129938e25, 3.80669129938e25),
    Row(
        "60 nats apart",
        "rollout_is_mean",
        1.617217319e8,
        3.80669129938e25,
        "clamped to e^20, and nothing says that it was",
    ),
)


def verl(tokens: Tokens, metric: Metric, dtype: type[np.floating]) -> float | str:
    """What verl gives, or the name of the error that it raises."""
    import torch  # noqa: PLC0415 - heavy, and only where verl is installed
    from verl.trainer.ppo import rollout_corr_helper as helper  # noqa: PLC0415 - only where it is installed
    from verl_metrics import NEVER  # noqa: PLC0415 - as above

    gen, train, mask = map(torch.from_numpy, tokens.arrays(dtype))
    try:
        if metric == "k3_kl":
            return float(helper.compute_offpolicy_metrics(train, gen, mask)[metric])
        threshold = min(NEVER, float(np.finfo(dtype).max))
        return float(helper.compute_rollout_correction_weights(train - gen, mask, "token", threshold)[1][metric])
    except (AssertionError, ValueError) as error:
        return type(error).__name__


def ours(tokens: Tokens, metric: Metric) -> float | str:
    """What the reference gives, or the name of the error that it raises."""
    pair = ReferencePair(torch_trainer(), torch_rollout())
    try:
        return pair.mismatch(*tokens.arrays(np.float64))[OURS[metric]]
    except ValueError as error:
        return type(error).__name__


def the_same(one: float | str, other: float | str, relative: float) -> bool:
    """Whether both are the same error, or numbers that are close; NaN equals NaN."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return bool(np.isclose(one, other, rtol=relative, atol=0.0, equal_nan=True))


def agree(row: Row) -> bool:
    """Whether both give the number, or neither gives one."""
    if isinstance(row.verl, str) and isinstance(row.ours, str):
        return True
    return the_same(row.verl, row.ours, 1e-7) and the_same(
        verl(BATCHES[row.tokens], row.metric, np.float32), row.ours, FP32
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.tokens}-{row.metric}".replace(" ", "_"))
def test_each_number_is_as_stated(row: Row) -> None:
    tokens = BATCHES[row.tokens]
    assert the_same(ours(tokens, row.metric), row.ours, 1e-9)
    assert the_same(verl(tokens, row.metric, np.float64), row.verl, 1e-7)


def test_what_differs_has_a_reason_and_what_agrees_has_none() -> None:
    assert [row for row in ROWS if agree(row) == bool(row.why)] == []


def test_the_reverse_divergence_is_the_same_number_with_the_sides_exchanged() -> None:
    gen, train, mask = TURNS.arrays(np.float64)
    pair = ReferencePair(torch_trainer(), torch_rollout())
    exchanged = Tokens(
        tuple(map(tuple, train.tolist())), tuple(map(tuple, (gen - train).tolist())), tuple(map(tuple, TURNS.mask))
    )
    assert the_same(verl(exchanged, "k3_kl", np.float64), pair.mismatch(gen, train, mask)["policy_kl_error"], 1e-7)


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("tokens", "verl's metric", "verl, fp64", "verl, fp32", "ours", "why they differ")
    for row in ROWS:
        tokens = BATCHES[row.tokens]
        numbers = verl(tokens, row.metric, np.float64), verl(tokens, row.metric, np.float32), ours(tokens, row.metric)
        table.add_row(row.tokens, row.metric, *(f"{n:.6g}" if isinstance(n, float) else n for n in numbers), row.why)
    with capsys.disabled():
        Console(width=160).print(table)
    assert table.row_count == len(ROWS)
