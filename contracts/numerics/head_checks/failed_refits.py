"""NU-32x: a refit that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics.cases import RefitCase
from contracts.numerics.head_checks import origins
from contracts.numerics.head_checks.refitting import Chain
from contracts.numerics.observation import difference, fresh_answers, requests_of, running
from contracts.numerics.protocols import HeadShape
from contracts.numerics.sides import head
from contracts.numerics.updates import updated

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.numerics.protocols import F32, Engine, EngineAdapter

BROKEN_NAME = "model.no_such_module.weight"


class SenderLostError(ConnectionError):
    """The trainer went away in the middle of a stream."""


def _broken(weights: dict[str, F32]) -> dict[str, F32]:
    """All weights, and in the middle of them one that no model has."""
    names = list(weights)
    names.insert(len(names) // 2, BROKEN_NAME)
    return {name: weights.get(name, np.zeros((2, 2), dtype=np.float32)) for name in names}


def _fail(check: Check[EngineAdapter], engine: Engine, sent: dict[str, F32], transport: str) -> None:
    """Send an update that must fail."""
    try:
        engine.refit(sent, transport=transport, order=list(sent))
    except Exception:  # noqa: BLE001 - how it fails is the engine's own
        return
    raise check.fail(
        "an update with an unknown name was accepted", got=BROKEN_NAME, want="an error", transport=transport
    )


@head.check("NU-321", source=origins.STALE, requires={"refit"}, examples=(RefitCase(), RefitCase(seed=6, warm=False)))
def failed_refits_never_mix(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """A refit that fails raises, and afterwards the engine answers from all old weights, all new ones, or not at all.

    Why: half an update is a policy that nobody trained, and rollouts from it look like any other.

    Usual cause: weights written as they arrive, and an error that is logged; a copy refreshed from half an update.
    """
    requests, first = requests_of(adapter, case.seed), dict(adapter.checkpoint(case.seed))
    second, _ = updated(adapter, first, "new", case.seed, HeadShape())
    whole = [fresh_answers(adapter, weights, requests) for weights in (first, second)]
    for transport in sorted(Chain.transports(adapter)):
        with running(adapter, first) as engine:
            if case.warm:
                requests.ask(engine)
            _fail(check, engine, _broken(second), transport)
            try:
                got = requests.ask(engine)
            except Exception:  # noqa: BLE001, S112 - refusing to answer is one of the two right ways
                continue
            if all(difference(got, answers) for answers in whole):
                raise check.fail(
                    "after a failed refit the engine answers from mixed weights",
                    got=[difference(got, answers) for answers in whole],
                    want="the old weights' answers, the new ones', or an error",
                    transport=transport,
                )


@head.check("NU-322", source=origins.STALE, requires={"refit"}, examples=(RefitCase(), RefitCase(seed=6, warm=False)))
def failed_refits_can_be_repeated(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """After a failed refit a complete one makes the engine answer as a fresh one.

    Why: the trainer retries, and the retry must end what the failure began.

    Usual cause: state of the failed update (a mark already consumed, a lock) that survives it.
    """
    requests, first = requests_of(adapter, case.seed), dict(adapter.checkpoint(case.seed))
    second, _ = updated(adapter, first, "step", case.seed, HeadShape())
    want = fresh_answers(adapter, second, requests)
    for transport in sorted(Chain.transports(adapter)):
        with running(adapter, first) as engine:
            if case.warm:
                requests.ask(engine)
            _fail(check, engine, _broken(second), transport)
            engine.refit(second, transport=transport, order=list(second))
            if found := difference(requests.ask(engine), want):
                raise check.fail(
                    "a refit after a failed one does not bring the new weights",
                    got=found,
                    want="bit-identical answers to a fresh engine's",
                    transport=transport,
                )


@head.check(
    "NU-323",
    source=origins.STALE,
    requires={"refit", "collective"},
    examples=(RefitCase(), RefitCase(updates=("step",), shuffle=4, warm=False)),
)
def broken_streams_never_mix(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """A stream that breaks off half way raises, and afterwards the engine answers from all old weights or not at all.

    Why: every name and size was right, so nothing but the break itself tells that the rest is missing.

    Usual cause: a receiver that takes the end of the connection for the end of the update.
    """
    requests, first = requests_of(adapter, case.seed), dict(adapter.checkpoint(case.seed))
    second, _ = updated(adapter, first, case.updates[0], case.seed, HeadShape())
    old = fresh_answers(adapter, first, requests)
    order = [str(name) for name in np.random.default_rng(case.shuffle).permutation(sorted(second))]
    batches = 0

    def lose_sender() -> None:
        nonlocal batches
        batches += 1
        if batches == len(order) // 2:
            raise SenderLostError(f"the trainer was lost after {batches} of {len(order)} batches")

    with running(adapter, first) as engine:
        if case.warm:
            requests.ask(engine)
        try:
            engine.refit(second, transport="collective", order=order, between=lose_sender)
        except Exception:  # noqa: BLE001 - how it fails is the engine's own
            raised = True
        else:
            raised = False
        if not raised:
            raise check.fail("a stream that broke off was taken for a whole one", got="no error", want="an error")
        try:
            got = requests.ask(engine)
        except Exception:  # noqa: BLE001 - refusing to answer is one of the two right ways
            return
    if found := difference(got, old):
        raise check.fail(
            "after half a stream the engine answers from other weights than the old",
            got=found,
            want="the old weights' answers, or an error",
        )
