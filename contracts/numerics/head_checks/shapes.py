"""NU-11x: what stands around the product is done in fp32 too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics import budgets, strategies
from contracts.numerics.cases import ForwardCase
from contracts.numerics.head_checks import origins
from contracts.numerics.observation import running
from contracts.numerics.oracle import Head, on_bf16_grid
from contracts.numerics.protocols import HeadShape
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.numerics.protocols import EngineAdapter

FORWARDS = (ForwardCase(), ForwardCase(seed=2, length=9))
SOFTCAP, SCALE = 30.0, 0.8125


def _hold(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase, shape: HeadShape) -> None:
    """Raise unless logits of a head of this shape are fp32, as wide as the vocabulary, and exact."""
    weights, tokens = adapter.checkpoint(case.seed, shape), case.tokens(adapter.vocab)
    with running(adapter, weights, shape=shape) as engine:
        prefill = engine.prefill(tokens)
    exact_head = Head.of(weights, shape)
    exact = exact_head.logits(prefill.hidden)
    if prefill.logits.shape != exact.shape:
        raise check.fail(
            "logits are not as wide as the vocabulary", got=prefill.logits.shape, want=exact.shape, shape=shape
        )
    used = float((np.abs(prefill.logits - exact) / budgets.logits(exact_head, prefill.hidden)).max())
    error = np.abs(prefill.logprobs - exact_head.logprobs(prefill.hidden, tokens))
    used_by_logprobs = float((error / budgets.logprobs(exact_head, prefill.hidden)[:-1]).max())
    if not max(used, used_by_logprobs) <= 1.0 or on_bf16_grid(prefill.logits).mean() > 0.5:  # noqa: PLR2004 - see NU-102
        raise check.fail(
            "a head of this shape is not computed in fp32",
            got=f"logits {used:.3g}, logprobs {used_by_logprobs:.3g} times the budget",
            want="at most the budget, off the bf16 grid",
            shape=shape,
        )


@head.check("NU-111", source=origins.SHAPES, requires={"softcap"}, examples=FORWARDS, cases=strategies.forwards)
def softcap_is_honoured(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """A soft cap is applied to fp32 logits.

    Why: an fp32 head that replaces the logits computation wholesale drops it, and large logits come out larger.

    Usual cause: a patched compute_logits that returns the bare product.
    """
    _hold(check, adapter, case, HeadShape(softcap=SOFTCAP))


@head.check("NU-112", source=origins.SHAPES, requires={"logit_scale"}, examples=FORWARDS)
def scale_is_honoured(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """A logit scale is applied to fp32 logits.

    Why: a dropped scale is a temperature that nobody asked for.

    Usual cause: a patched compute_logits that returns the bare product, or scales before rounding.
    """
    _hold(check, adapter, case, HeadShape(logit_scale=SCALE))


@head.check("NU-113", source=origins.SHAPES, requires={"bias"}, examples=FORWARDS)
def bias_is_honoured(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """A head's bias is added in fp32.

    Why: a dropped bias shifts every token's probability, on one side only.

    Usual cause: an upcast of the weight alone; a bias left to a caller that does not add it.
    """
    _hold(check, adapter, case, HeadShape(bias=True))


@head.check("NU-114", source=origins.SHAPES, requires={"vocab_padding"}, examples=FORWARDS)
def padding_rows_are_cut(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """Rows that pad the vocabulary enter neither logits nor normalizer.

    Why: a padding row with a large logit takes probability from every token, and can be sampled.

    Usual cause: the cut belongs to the original logits computation, which an fp32 head went around.
    """
    _hold(check, adapter, case, HeadShape(vocab_padding=True))


@head.check("NU-115", source=origins.SHAPES, requires={"tied"}, examples=FORWARDS)
def tied_weight_is_used(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """A head tied to the embedding computes with the embedding's weight, in fp32.

    Why: the layer of a tied head owns no weight, and a copy of nothing is made from whatever was allocated.

    Usual cause: an fp32 head that reads the layer's own weight and not the one it is called with.
    """
    _hold(check, adapter, case, HeadShape(tied=True))


@head.check("NU-116", source=origins.SHAPES, requires={"bias", "logit_scale", "softcap"}, examples=FORWARDS)
def bias_scale_and_cap_in_this_order(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """The bias is added first, then comes the scale, and the cap last.

    Why: each alone is right in any order, and models that have two of them are where an order goes wrong.

    Usual cause: a scale folded into the weight or the hidden states, where the bias does not get it; a cap inside it.
    """
    _hold(check, adapter, case, HeadShape(bias=True, logit_scale=SCALE, softcap=SOFTCAP))
