"""NU-411: what an adapter does not declare is absent, and not half there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.level import Level
from contracts.numerics.head_checks import origins
from contracts.numerics.head_checks.refitting import Chain
from contracts.numerics.observation import running
from contracts.numerics.protocols import HEAD, PLAIN, TRANSPORTS, HeadShape
from contracts.numerics.sides import HEAD_CAPABILITIES, head

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.check import Check
    from contracts.numerics.protocols import F32, Engine, EngineAdapter

TOKENS = (1, 2, 3)
SHAPES = {
    "tied": HeadShape(tied=True),
    "bias": HeadShape(bias=True),
    "softcap": HeadShape(softcap=30.0),
    "logit_scale": HeadShape(logit_scale=0.8125),
    "vocab_padding": HeadShape(vocab_padding=True),
    "drafter": HeadShape(drafter=True),
}
#: Faults are asked for by nobody who did not declare them; reuse of a prefix shows only as a stale one, in NU-301.
UNSEEN = frozenset({"faults", "prefix_cache"})


@head.check("NU-411", level=Level.SHOULD, source=origins.DECLARED, examples=tuple(HEAD_CAPABILITIES))
def undeclared_means_absent(check: Check[EngineAdapter], adapter: EngineAdapter, case: str) -> None:
    """A capability that is not declared is refused, at the start or when it is asked for.

    Why: what is there without being declared is held to nothing: a soft cap that is ignored, a transport that leaves
    the head stale.

    Usual cause: a capability left out of the adapter to silence a check; an option of the model that nobody reads.
    """
    if case in adapter.capabilities or case in UNSEEN:
        return
    try:
        served = _served(adapter, case)
    except Exception:  # noqa: BLE001 - refusing is what is asked for, how is the adapter's own
        return
    if served:
        raise check.fail(f"{case} is not declared and was served", got="no error", want=HEAD_CAPABILITIES[case])


def _served(adapter: EngineAdapter, capability: str) -> bool:
    """Whether an engine does what was not declared; raises where it refuses."""
    shape = SHAPES.get(capability, PLAIN)
    weights = adapter.checkpoint(0, shape)
    with running(adapter, weights, "tf32" if capability == "tf32" else "fp32", shape) as engine:
        engine.prefill(TOKENS)
        if capability == "partial_refit":
            return _takes_a_part(adapter, engine, weights)
        if capability == "cached_head":
            return engine.head_storage() is not None
        if capability in {"refit", *TRANSPORTS}:
            transport = capability if capability in TRANSPORTS else "direct"
            engine.refit(weights, transport=transport, order=sorted(weights))
        elif capability == "generate":
            engine.generate([TOKENS], max_tokens=1, seed=0)
        elif capability == "training":
            engine.gradients(TOKENS)
        elif capability == "drafter":
            engine.draft(TOKENS)
        elif capability == "sleep":
            engine.sleep()
            engine.wake()
    return True


def _takes_a_part(adapter: EngineAdapter, engine: Engine, weights: Mapping[str, F32]) -> bool:
    if "refit" not in adapter.capabilities:
        return False
    transport = min(Chain.transports(adapter))
    engine.refit({HEAD: weights[HEAD]}, transport=transport, order=[HEAD])
    return True
