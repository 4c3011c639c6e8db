"""NU-33x: prefix cache, sleep and wake."""

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
    from contracts.numerics.protocols import Engine, EngineAdapter

REFITS = (RefitCase(), RefitCase(seed=7))


@head.check("NU-331", source=origins.PREFIXES, requires={"refit", "generate", "prefix_cache"}, examples=REFITS)
def prefixes_are_forgotten(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """A prompt sampled before a refit is sampled after it as by a fresh engine, by every transport.

    Why: system prompts repeat in every rollout, and their cached keys and values are the old policy's.

    Usual cause: a prefix cache that the refit does not reset.
    """
    first = dict(adapter.checkpoint(case.seed))
    second, _ = updated(adapter, first, "step", case.seed, HeadShape())
    prompt = [int(t) for t in np.random.default_rng(case.seed).integers(0, adapter.vocab, 33)]

    def sample(engine: Engine) -> tuple[list[int], list[float]]:
        (found,) = engine.generate([prompt], max_tokens=6, seed=case.seed)
        return list(found.tokens), list(found.logprobs)

    with running(adapter, second) as engine:
        want = sample(engine)
    for transport in sorted(Chain.transports(adapter)):
        with running(adapter, first) as engine:
            sample(engine)
            engine.refit(second, transport=transport, order=sorted(second))
            got = sample(engine)
        if got != want:
            raise check.fail("a cached prefix outlived the weights", got=got, want=want, transport=transport)


@head.check("NU-332", source=origins.SLEEPING, requires={"refit", "sleep"}, examples=REFITS)
def waking_needs_weights(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """An engine that woke and got no weights refuses to answer.

    Why: whatever it answers comes from old weights, or from memory that was never written.

    Usual cause: waking restores buffers, a cached head among them, and reports success.
    """
    requests, weights = requests_of(adapter, case.seed), adapter.checkpoint(case.seed)
    with running(adapter, weights) as engine:
        requests.ask(engine)
        engine.sleep()
        try:
            engine.wake()
            got = requests.ask(engine)
        except Exception:  # noqa: BLE001 - refusing, at waking or at the request, is what is asked for
            return
    raise check.fail("an engine without weights answers", got={k: v.shape for k, v in got.items()}, want="an error")


@head.check("NU-333", source=origins.SLEEPING, requires={"refit", "sleep"}, examples=REFITS)
def waking_brings_the_new_weights(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """An engine that slept, woke and was refitted answers as a fresh one, by every transport.

    Why: colocated training sleeps and wakes the rollout engine at every step.

    Usual cause: a cached head kept through the sleep, or invalidated before it only.
    """
    requests, first = requests_of(adapter, case.seed), dict(adapter.checkpoint(case.seed))
    second, _ = updated(adapter, first, "step", case.seed, HeadShape())
    want = fresh_answers(adapter, second, requests)
    for transport in sorted(Chain.transports(adapter)):
        with running(adapter, first) as engine:
            requests.ask(engine)
            engine.sleep()
            engine.wake()
            engine.refit(second, transport=transport, order=sorted(second))
            if found := difference(requests.ask(engine), want):
                raise check.fail(
                    "sleep and wake brought old weights back",
                    got=found,
                    want="a fresh engine's answers",
                    transport=transport,
                )
