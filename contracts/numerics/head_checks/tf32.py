"""NU-12x: TF32, for the head's product and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics import budgets
from contracts.numerics.cases import ForwardCase
from contracts.numerics.head_checks import origins
from contracts.numerics.observation import requests_of, running
from contracts.numerics.oracle import Head
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.numerics.protocols import EngineAdapter

FORWARDS = (ForwardCase(),)


@head.check("NU-121", source=origins.TF32, requires={"tf32"}, examples=FORWARDS)
def tf32_stays_in_the_head(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """The process-wide precision settings are the same after every request, in every mode.

    Why: the setting is global, so one that stays changed silently runs every fp32 product of the process in TF32.

    Usual cause: set and never restored; restored to a default and not to what was there before.
    """
    weights, requests = adapter.checkpoint(case.seed), requests_of(adapter, case.seed)
    for mode in ("fp32", "tf32"):
        with running(adapter, weights, mode) as engine:
            before = dict(engine.matmul_flags())
            requests.ask(engine)
            if "training" in adapter.capabilities:
                engine.gradients(case.tokens(adapter.vocab))
            after = dict(engine.matmul_flags())
        if after != before:
            raise check.fail("a request changed process-wide settings", got=after, want=before, mode=mode)


@head.check("NU-122", source=origins.TF32, requires={"tf32"}, examples=FORWARDS)
def tf32_stays_in_the_head_on_errors(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """The process-wide precision settings are the same after a request that fails.

    Why: the one exception on a long run is enough to change every later step's arithmetic.

    Usual cause: restored after the product instead of in a finally.
    """
    weights, outside = adapter.checkpoint(case.seed), [0, adapter.vocab + 10_000]
    for mode in ("fp32", "tf32"):
        with running(adapter, weights, mode) as engine:
            before = dict(engine.matmul_flags())
            try:
                engine.prefill(outside)
            except Exception:  # noqa: BLE001 - any error will do, what it leaves behind is the point
                after = dict(engine.matmul_flags())
            else:
                raise check.fail("a token outside the vocabulary was accepted", got=outside, want="an error", mode=mode)
        if after != before:
            raise check.fail("a failed request changed process-wide settings", got=after, want=before, mode=mode)


@head.check("NU-123", source=origins.TF32, requires={"tf32"}, examples=(*FORWARDS, ForwardCase(seed=3, length=40)))
def tf32_is_exact_here(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """In TF32 logits equal the exact product within the same budget as in fp32.

    Why: bf16 values fit into TF32, so the mode costs nothing; where it costs something an input was no bf16 value.

    Usual cause: fp32 hidden states (an fp32 residual connection) fed to a TF32 head; reduced-precision accumulation.
    """
    weights = adapter.checkpoint(case.seed)
    with running(adapter, weights, "tf32") as engine:
        prefill = engine.prefill(case.tokens(adapter.vocab))
    exact_head = Head.of(weights)
    used = np.abs(prefill.logits - exact_head.logits(prefill.hidden)) / budgets.logits(exact_head, prefill.hidden)
    if not used.max() <= 1.0 or prefill.dtype != "float32":
        raise check.fail(
            "TF32 logits are further from the exact ones than fp32 accumulation explains",
            got=f"{prefill.dtype}, {used.max():.3g} times the budget",
            want="float32, at most the budget, budgets.logits",
        )
