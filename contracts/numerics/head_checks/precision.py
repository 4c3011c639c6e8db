"""NU-1xx: what an fp32 head computes, against fp64 from its own hidden states and weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics import budgets, strategies
from contracts.numerics.cases import ForwardCase
from contracts.numerics.head_checks import origins
from contracts.numerics.observation import difference, requests_of, running
from contracts.numerics.oracle import Head, on_bf16_grid
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.numerics.protocols import EngineAdapter

FORWARDS = (ForwardCase(), ForwardCase(seed=1, length=7))
REALISTIC = (15.0, 60.0)


@head.check("NU-101", source=origins.ROUNDING, examples=FORWARDS)
def logits_are_realistic(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """The checkpoints that the engine is judged on have logits as large as production's.

    Why: rounding to bf16 costs in proportion to the logits' size, so at small logits every other check of this
    contract would pass for an engine that rounds.

    Usual cause: a randomly initialized tiny model, whose logits are around zero.
    """
    with running(adapter, adapter.checkpoint(case.seed), "untouched") as engine:
        logits = engine.prefill(case.tokens(adapter.vocab)).logits
    largest = float(np.median(logits.max(axis=-1)))
    if not REALISTIC[0] <= largest <= REALISTIC[1]:
        raise check.fail("the largest logits are not those of a real model", got=largest, want=REALISTIC)


@head.check("NU-102", source=origins.ROUNDING, examples=FORWARDS, cases=strategies.forwards)
def fp32_logits_leave_the_grid(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """With fp32 on, logits are fp32 and their values are off the bf16 grid.

    Why: a head that computes in fp32 and is rounded afterwards looks switched on and changes nothing.

    Usual cause: a logits processor that casts back to the model's dtype, as newer vLLM does around a patched
    compute_logits; a switch that never reached the worker process.
    """
    with running(adapter, adapter.checkpoint(case.seed)) as engine:
        prefill = engine.prefill(case.tokens(adapter.vocab))
    share = float(on_bf16_grid(prefill.logits).mean())
    # A true fp32 value is on the grid once in 2^16; half leaves the verdict to no chance at all.
    if prefill.dtype != "float32" or share > 0.5:  # noqa: PLR2004 - explained above
        raise check.fail(
            "the logits of an fp32 head are bf16",
            got=f"{prefill.dtype}, {share:.1%} on the bf16 grid",
            want="float32, off it",
        )


@head.check("NU-103", source=origins.ROUNDING, examples=FORWARDS, cases=strategies.forwards)
def logits_equal_the_oracle(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """With fp32 on, logits equal the exact product of the head's own input and weight within fp32 accumulation.

    Why: this is the whole promise; what is left of the error between the engines is then the bodies'.

    Usual cause: one operand rounded on the way, accumulation in bf16, or a stale copy of the weight.
    """
    weights = adapter.checkpoint(case.seed)
    with running(adapter, weights) as engine:
        prefill = engine.prefill(case.tokens(adapter.vocab))
    exact_head = Head.of(weights)
    used = np.abs(prefill.logits - exact_head.logits(prefill.hidden)) / budgets.logits(exact_head, prefill.hidden)
    if not used.max() <= 1.0:
        raise check.fail(
            "logits are further from the exact ones than fp32 accumulation explains",
            got=f"{used.max():.3g} times the budget",
            want="at most the budget, budgets.logits",
        )


@head.check("NU-104", source=origins.INERT, examples=FORWARDS)
def off_is_untouched(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """With fp32 off, every answer is bit-identical to that of an engine that never met the feature.

    Why: the feature is shipped to everyone and asked for by few.

    Usual cause: a wrapper that is installed always and decides inside; a cast to fp32 and back.
    """
    weights, requests = adapter.checkpoint(case.seed), requests_of(adapter, case.seed)
    with running(adapter, weights, "untouched") as engine:
        want = requests.ask(engine)
    with running(adapter, weights, "off") as engine:
        got = requests.ask(engine)
    if found := difference(got, want):
        raise check.fail("the switched-off head changes answers", got=found, want="bit-identical answers")


@head.check("NU-105", source=origins.ROUNDING, examples=FORWARDS, cases=strategies.forwards)
def logprobs_equal_the_oracle(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """With fp32 on, each token's logprob equals the exact one of the head's own input within the fp32 budget.

    Why: logprobs, not logits, are what training compares; a softmax in bf16 or a shift by one token undoes the head.

    Usual cause: log-softmax on logits cast down, logprobs of the token before or after, a temperature applied.
    """
    weights, tokens = adapter.checkpoint(case.seed), case.tokens(adapter.vocab)
    with running(adapter, weights) as engine:
        prefill = engine.prefill(tokens)
    exact_head = Head.of(weights)
    error = np.abs(prefill.logprobs - exact_head.logprobs(prefill.hidden, tokens))
    used = error / budgets.logprobs(exact_head, prefill.hidden)[:-1]
    if not used.max() <= 1.0:
        raise check.fail(
            "logprobs are further from the exact ones than an fp32 softmax explains",
            got=f"{error.max():.3g} nats, {used.max():.3g} times the budget, at token {int(used.argmax()) + 1}",
            want="at most the budget, budgets.logprobs",
        )
