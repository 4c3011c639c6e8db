"""NU-30x: every transport leaves the engine as a fresh one on the new weights, bit for bit.

Bits and not a threshold: one optimizer step's worth of staleness costs about as much as the bf16 rounding that
the fp32 head removes, so any threshold that lets the rounding pass lets the staleness pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.numerics import strategies
from contracts.numerics.cases import RefitCase
from contracts.numerics.head_checks import origins
from contracts.numerics.head_checks.refitting import Chain
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.numerics.protocols import Engine, EngineAdapter

REFITS = (
    RefitCase(),
    RefitCase(updates=("new",), warm=False, dummy=True),
    RefitCase(updates=("step", "step", "new"), shuffle=1),
    RefitCase(updates=("head", "body", "head"), shuffle=2),
)


@head.check("NU-301", source=origins.STALE, requires={"refit", "direct"}, examples=REFITS, cases=strategies.refits)
def direct_refits_reach_the_head(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """After a direct refit every answer is a fresh engine's.

    Why: a head left on old weights samples tokens that the policy does not prefer, and no error says so.

    Usual cause: a cached fp32 copy that nothing invalidates, or only on the first update.
    """
    Chain(adapter, case, "direct").hold(check)


@head.check("NU-302", source=origins.STALE, requires={"refit", "collective"}, examples=REFITS, cases=strategies.refits)
def collective_refits_reach_the_head(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """After a refit streamed weight by weight, in whatever order, every answer is a fresh engine's.

    Why: the transport used in training is seldom the one that was tested.

    Usual cause: the copy refreshed when the head's batch arrives and marked clean before the rest, or only at the
    begin of the stream.
    """
    Chain(adapter, case, "collective").hold(check)


@head.check("NU-303", source=origins.STALE, requires={"refit", "checkpoint"}, examples=REFITS, cases=strategies.refits)
def checkpoint_refits_reach_the_head(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """After a refit from a file every answer is a fresh engine's.

    Why: a checkpoint engine loads weights without the update lifecycle around it.

    Usual cause: the copy invalidated in the lifecycle and not in the loading that every transport passes.
    """
    Chain(adapter, case, "checkpoint").hold(check)


@head.check("NU-304", source=origins.STALE, requires={"refit", "delta"}, examples=REFITS, cases=strategies.refits)
def delta_refits_reach_the_head(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """After a refit that writes only changed elements every answer is a fresh engine's.

    Why: it writes into storage past the model's loading, which moves neither version counter nor address.

    Usual cause: the copy invalidated in the model's loading only.
    """
    Chain(adapter, case, "delta").hold(check)


@head.check(
    "NU-305",
    source=origins.STALE,
    requires={"refit", "collective"},
    examples=(RefitCase(), RefitCase(updates=("step", "head"), shuffle=3)),
)
def forwards_between_batches_do_no_harm(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """A forward between two batches of a refit leaves nothing behind.

    Why: it meets a half-updated model, and whatever it caches of it must be gone at the end.

    Usual cause: a dirty mark set at the begin of the update only, which this forward consumes.
    """
    chain = Chain(adapter, case, "collective")

    def forward(engine: Engine) -> None:
        chain.requests.ask(engine)

    chain.hold(check, forward)


@head.check(
    "NU-306",
    source=origins.STALE,
    requires={"refit"},
    examples=tuple(RefitCase(seed=s, updates=("new",), dummy=True, warm=w) for s, w in ((0, True), (1, False))),
)
def dummy_weights_leave_nothing(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """An engine started on dummy weights answers after its first refit as a fresh one, by every transport.

    Why: this is how every rollout engine starts, and its warm-up is what builds a copy on first use.

    Usual cause: a copy built during warm-up or graph capture and taken for the trained one.
    """
    for transport in sorted(Chain.transports(adapter)):
        Chain(adapter, case, transport).hold(check)
