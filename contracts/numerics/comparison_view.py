"""The four-row table as text, and what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.table import Table

from contracts.numerics.comparing import BODY, QUANTILES, WAYS, Rows, against_both_bf16, rounding_dominates

if TYPE_CHECKING:
    from contracts.numerics.protocols import EnginePair

METRICS = ("token_mult_prob_error", "gen_kl_error")


def means(rows: Rows, metric: str) -> dict[str, float]:
    """Each row's mean of a metric over the checkpoints."""
    return {name: float(np.mean([run.means[metric] for run in runs])) for name, runs in rows.items()}


def table(rows: Rows, pair: EnginePair, *, plain: bool) -> Table:
    """Each row's metrics as mean and spread over the checkpoints, its worst sequence's error, quantiles of the gaps."""
    seeds = len(rows[BODY])
    view = Table(
        title=f"{pair.rollout.name} (rollout) and {pair.train.name} (trainer), {seeds} checkpoints",
        box=box.ASCII2 if plain else box.SIMPLE_HEAD,
    )
    view.add_column("fp32 head")
    for name in METRICS:
        view.add_column(name, justify="right")
    view.add_column("worst sequence", justify="right")
    for q in QUANTILES:
        view.add_column("largest gap" if q == 1.0 else f"gap q{q:g}", justify="right")
    for name in (*WAYS, BODY):
        runs = rows[name]
        cells = [_spread([run.means[metric] for run in runs], 5 if metric == METRICS[0] else 6) for metric in METRICS]
        cells.append(_spread([float(run.sequences.max()) for run in runs], 4))
        cells += [f"{np.mean([run.means[f'q{q}'] for run in runs]):.3f}" for q in QUANTILES]
        view.add_row("(bodies alone)" if name == BODY else name, *cells, end_section=name == "both fp32")
    return view


def verdicts(rows: Rows) -> tuple[bool, list[str]]:
    """Whether both in fp32 is best in every metric, and in words what the table says."""
    lines, holds = [], True
    for metric in METRICS:
        found = {name: value for name, value in means(rows, metric).items() if name != BODY}
        best = min(found, key=lambda name: found[name])
        holds = holds and best == "both fp32"
        lines.append(f"{metric}: {best} is best")
    for name in WAYS:
        if name != "both bf16":
            more, deviation = against_both_bf16(rows, name)
            lines.append(f"{METRICS[0]} of a sequence, against both bf16: {name} {more:+.5f} ± {deviation:.5f}")
    error = means(rows, METRICS[0])
    if rounding_dominates(rows):
        worse = error["both bf16"] < min(error["rollout only"], error["trainer only"])
        lines.append(f"{METRICS[0]}: one side alone is {'worse than none' if worse else 'no worse than none'}")
    else:
        lines.append("the bodies differ by more than half a bf16 step of the logits: one side alone is not judged")
    return holds, lines


def _spread(values: list[float], digits: int) -> str:
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"
