"""NU-20x: gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics import budgets
from contracts.numerics.cases import ForwardCase
from contracts.numerics.head_checks import origins
from contracts.numerics.observation import running
from contracts.numerics.oracle import Head
from contracts.numerics.protocols import EMBEDDING, HEAD, HeadShape
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.check import Check
    from contracts.numerics.protocols import EngineAdapter, HeadMode

FORWARDS = (ForwardCase(), ForwardCase(seed=4, length=40))


def _own_dtypes(parameters: Mapping[str, str], name: str) -> set[str]:
    """A weight's own dtype; those of all parameters where the engine does not name it as Hugging Face does."""
    return {parameters[name]} if name in parameters else set(parameters.values())


def _hold(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase, mode: HeadMode) -> None:
    """Raise unless the head's gradient is there, in the weight's dtype, and exact to one rounding."""
    weights, tokens = adapter.checkpoint(case.seed), case.tokens(adapter.vocab)
    with running(adapter, weights, mode) as engine:
        gradients = engine.gradients(tokens)
        parameters = engine.parameters()
    if HEAD not in gradients.values:
        raise check.fail("the head's weight got no gradient", got=sorted(gradients.values), want=HEAD, mode=mode)
    # Whatever that is: whether the feature may change it is asked by NU-211.
    own = _own_dtypes(parameters, HEAD)
    if gradients.dtypes[HEAD] not in own:
        raise check.fail("the gradient is not in the weight's dtype", got=gradients.dtypes[HEAD], want=own, mode=mode)
    exact = Head.of(weights).weight_gradient(gradients.hidden, tokens)
    error = float(np.linalg.norm(gradients.values[HEAD] - exact) / np.linalg.norm(exact))
    if not error <= budgets.GRADIENT:
        raise check.fail(
            "the head's gradient is further from the exact one than one rounding explains",
            got=f"relative error {error:.3g}",
            want=f"at most {budgets.GRADIENT:.3g}, budgets.GRADIENT",
            mode=mode,
        )


@head.check("NU-201", source=origins.GRADIENTS, requires={"training"}, examples=FORWARDS)
def gradients_reach_the_head(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """With fp32 on, the head's weight gets the exact gradient, rounded once to its own dtype.

    Why: a head that computes on a detached copy trains everything but itself, and nothing says so.

    Usual cause: an fp32 copy instead of an upcast in the graph; fused gradient accumulation on the upcast weight.
    """
    _hold(check, adapter, case, "fp32")


@head.check("NU-202", source=origins.GRADIENTS, requires={"training", "tf32"}, examples=FORWARDS)
def gradients_reach_the_head_in_tf32(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """In TF32 the head's weight gets the exact gradient within the rounding of its own dtype.

    Why: the incoming gradient is no bf16 value, so TF32 does round it; that must stay below the final rounding.

    Usual cause: the backward's products left in bf16, or a mode that covers the forward only.
    """
    _hold(check, adapter, case, "tf32")


@head.check("NU-203", source=origins.GRADIENTS, requires={"training", "tied"}, examples=FORWARDS)
def tied_gradients_hold_both_parts(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """With a tied head, the embedding's gradient holds the head's part.

    Why: the head's part is most of it; without it tokens that are only predicted, never read, do not train.

    Usual cause: an fp32 copy of the embedding instead of an upcast in the graph.
    """
    shape = HeadShape(tied=True)
    weights, tokens = adapter.checkpoint(case.seed, shape), case.tokens(adapter.vocab)
    with running(adapter, weights, shape=shape) as engine:
        gradients = engine.gradients(tokens)
    unread = sorted(set(range(adapter.vocab)) - set(tokens[:-1]))
    exact = Head.of(weights, shape).weight_gradient(gradients.hidden, tokens)[unread]
    found = gradients.values.get(EMBEDDING, np.zeros((adapter.vocab, exact.shape[1]), dtype=np.float32))[unread]
    error = float(np.linalg.norm(found - exact) / np.linalg.norm(exact))
    if not error <= budgets.GRADIENT:
        raise check.fail(
            "rows of the embedding that only the head uses have a wrong gradient",
            got=f"relative error {error:.3g}",
            want=f"at most {budgets.GRADIENT:.3g}, budgets.GRADIENT",
        )


@head.check("NU-204", source=origins.GRADIENTS, requires={"training"}, examples=FORWARDS)
def gradients_pass_the_head(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """With fp32 on, every parameter gets a gradient that gets one without, in its own dtype, and none becomes zero.

    Why: a head that detaches its input trains itself alone, and the loss still falls.

    Usual cause: hidden states upcast on a copy outside the graph; an fp32 gradient that the body's layers refuse.
    """
    weights, tokens = adapter.checkpoint(case.seed), case.tokens(adapter.vocab)
    with running(adapter, weights, "untouched") as engine:
        want = engine.gradients(tokens)
    with running(adapter, weights) as engine:
        got, own = engine.gradients(tokens), engine.parameters()
    lost = sorted(
        name for name, value in want.values.items() if value.any() and not got.values.get(name, value * 0).any()
    )
    if lost:
        raise check.fail("parameters got no gradient through the fp32 head", got=lost, want="one for each of them")
    other = {name: dtype for name, dtype in got.dtypes.items() if dtype not in _own_dtypes(own, name)}
    if other:
        raise check.fail(
            "gradients have other dtypes", got=other, want={name: _own_dtypes(own, name) for name in other}
        )
