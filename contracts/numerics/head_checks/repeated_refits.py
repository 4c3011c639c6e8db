"""NU-31x: partial, repeated, tied refits, and the storage that they must keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.numerics.cases import RefitCase
from contracts.numerics.head_checks import origins
from contracts.numerics.head_checks.refitting import Chain
from contracts.numerics.observation import difference, fresh_answers, requests_of, running
from contracts.numerics.protocols import EMBEDDING, HEAD, HeadShape
from contracts.numerics.sides import head
from contracts.numerics.updates import updated

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.numerics.protocols import EngineAdapter


def _by_every_transport(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    for transport in sorted(Chain.transports(adapter)):
        Chain(adapter, case, transport).hold(check)


@head.check(
    "NU-311", source=origins.STALE, requires={"refit", "partial_refit"}, examples=(RefitCase(updates=("head",)),)
)
def head_alone_can_be_refitted(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """After a refit that sends only the head every answer is a fresh engine's, by every transport.

    Why: with the body unchanged the stale copy's answers look entirely plausible.

    Usual cause: an invalidation hung on a body weight, or on the end of a complete update.
    """
    _by_every_transport(check, adapter, case)


@head.check(
    "NU-312", source=origins.STALE, requires={"refit", "partial_refit"}, examples=(RefitCase(updates=("body",)),)
)
def body_alone_can_be_refitted(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """After a refit that sends everything but the head every answer is a fresh engine's, by every transport.

    Why: frozen heads are common, and a refresh must not expect the head to come.

    Usual cause: a refresh that reads the head from the update instead of from the model.
    """
    _by_every_transport(check, adapter, case)


@head.check("NU-313", source=origins.STALE, requires={"refit"}, examples=(RefitCase(), RefitCase(seed=5)))
def weights_can_go_and_come_back(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """A, B, A, B: each time the answers are those of a fresh engine on these weights.

    Why: evaluation against a reference policy swaps weights, and what was cached for A must not answer for B.

    Usual cause: a cache keyed by something that comes back, a refresh that happens once.
    """
    requests, first = requests_of(adapter, case.seed), dict(adapter.checkpoint(case.seed))
    second, _ = updated(adapter, first, "step", case.seed, HeadShape())
    want = [fresh_answers(adapter, weights, requests) for weights in (first, second)]
    for transport in sorted(Chain.transports(adapter)):
        with running(adapter, first) as engine:
            for turn in range(4):
                if turn:
                    sent = (first, second)[turn % 2]
                    engine.refit(sent, transport=transport, order=sorted(sent))
                if found := difference(requests.ask(engine), want[turn % 2]):
                    raise check.fail(
                        "weights that came back are not answered as a fresh engine does",
                        got=found,
                        want="bit-identical answers",
                        transport=transport,
                        turn="ABAB"[: turn + 1],
                    )


@head.check(
    "NU-314",
    source=origins.GRAPHS,
    requires={"refit", "cached_head"},
    examples=(RefitCase(updates=("step", "new", "head")), RefitCase(dummy=True)),
)
def head_keeps_its_storage(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """The fp32 copy's storage is the same after every refit, by every transport.

    Why: a captured graph reads from where the copy was when it was captured.

    Usual cause: a refresh that builds a new tensor and assigns it.
    """
    for transport in sorted(Chain.transports(adapter)):
        chain = Chain(adapter, case, transport)
        with chain.engine() as engine:
            chain.requests.ask(engine)
            before = engine.head_storage()
            if before is None:
                raise check.fail("after a forward there is no copy", got=None, want="its address", transport=transport)
            for number in chain.refits(engine):
                after = engine.head_storage()
                if after != before:
                    raise check.fail(
                        "a refit moved the fp32 head", got=after, want=before, transport=transport, update=number + 1
                    )


@head.check(
    "NU-315",
    source=origins.TIED,
    requires={"refit", "collective", "tied"},
    examples=tuple(RefitCase(seed=s, updates=("step", "head"), shuffle=s) for s in range(4)),
)
def tied_heads_refit_in_any_order(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """A tied checkpoint that sends its weight under both names refits in any order, each name in a batch alone.

    Why: which name comes first depends on the trainer's bucket size.

    Usual cause: a loader that resolves the tie within one batch only.
    """
    shape = HeadShape(tied=True)
    chain = Chain(adapter, case, "collective", shape)
    chain.weights[HEAD] = chain.weights[EMBEDDING]
    chain.hold(check)


@head.check(
    "NU-316",
    source=origins.TIED,
    requires={"refit", "tied"},
    examples=(RefitCase(), RefitCase(updates=("new", "head"), dummy=True)),
)
def tied_heads_follow_their_embedding(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """A tied head whose weight is sent as the embedding's answers as a fresh engine's, by every transport.

    Why: a tied checkpoint has no `lm_head`, so what waits for that name waits forever.

    Usual cause: an invalidation keyed by the head's name; a copy of the embedding taken once.
    """
    for transport in sorted(Chain.transports(adapter)):
        Chain(adapter, case, transport, HeadShape(tied=True)).hold(check)
