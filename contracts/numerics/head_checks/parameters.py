"""NU-21x: the head's parameters and state dict are those of a model without the feature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics.cases import ForwardCase, RefitCase
from contracts.numerics.head_checks import origins
from contracts.numerics.head_checks.refitting import Chain
from contracts.numerics.observation import difference, requests_of, running
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.check import Check
    from contracts.numerics.protocols import F32, EngineAdapter, HeadMode


@head.check("NU-211", source=origins.MAPPING, examples=(ForwardCase(),))
def parameters_are_unchanged(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """Names, number and dtypes of the parameters are those of an untouched engine, also after a forward.

    Why: the refit's weight mapping and the optimizer's groups are built from them.

    Usual cause: an fp32 copy assigned as an attribute of a module, which registers it; a weight cast in place.
    """
    weights = adapter.checkpoint(case.seed)
    with running(adapter, weights, "untouched") as engine:
        want = dict(engine.parameters())
    with running(adapter, weights) as engine:
        engine.prefill(case.tokens(adapter.vocab))
        got = dict(engine.parameters())
    if got != want:
        raise check.fail("the fp32 head changes the parameters", got=_apart(got, want), want=_apart(want, got))


@head.check("NU-212", source=origins.STATE, examples=(ForwardCase(),))
def state_dict_is_unchanged(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """The state dict has an untouched engine's names and, bit for bit, the weights that were loaded.

    Why: checkpoints of runs with and without the feature must interchange.

    Usual cause: a buffer for the copy; a wrapper module that adds a prefix; the upcast weight saved.
    """
    weights = adapter.checkpoint(case.seed)
    with running(adapter, weights, "untouched") as engine:
        want = engine.weights()
    with running(adapter, weights) as engine:
        engine.prefill(case.tokens(adapter.vocab))
        got = engine.weights()
    _compare(check, got, want)


@head.check("NU-213", source=origins.STATE, examples=(ForwardCase(),))
def checkpoints_interchange(check: Check[EngineAdapter], adapter: EngineAdapter, case: ForwardCase) -> None:
    """What an engine with the fp32 head saved starts one without it, with unchanged answers, and the reverse.

    Why: runs switch the feature on and off between restarts.

    Usual cause: a checkpoint written from the copy; names that only one of the two knows.
    """
    weights, requests = adapter.checkpoint(case.seed), requests_of(adapter, case.seed)
    directions: tuple[tuple[HeadMode, HeadMode], ...] = (("fp32", "untouched"), ("untouched", "fp32"))
    for saving, loading in directions:
        with running(adapter, weights, saving) as engine:
            engine.prefill(case.tokens(adapter.vocab))
            saved = engine.weights()
        _compare(check, {name: saved[name] for name in weights if name in saved}, weights)
        with running(adapter, weights, loading) as engine:
            want = requests.ask(engine)
        with running(adapter, {name: saved[name] for name in weights}, loading) as engine:
            got = requests.ask(engine)
        if found := difference(got, want):
            raise check.fail("a checkpoint does not interchange", got=found, want="the same answers", saved_by=saving)


@head.check(
    "NU-214",
    source=origins.MAPPING,
    requires={"refit"},
    examples=(RefitCase(updates=("step", "new")), RefitCase(dummy=True)),
)
def parameters_survive_refits(check: Check[EngineAdapter], adapter: EngineAdapter, case: RefitCase) -> None:
    """Names, number and dtypes of the parameters are the same before and after refits.

    Why: the next refit's mapping would contain a name that no trainer sends.

    Usual cause: a refresh that assigns a new tensor to a module's attribute.
    """
    for transport in sorted(Chain.transports(adapter)):
        chain = Chain(adapter, case, transport)
        with chain.engine() as engine:
            before = dict(engine.parameters())
            for _ in chain.refits(engine):
                after = dict(engine.parameters())
                if after != before:
                    raise check.fail(
                        "a refit changes the parameters", got=_apart(after, before), want=_apart(before, after)
                    )


def _compare(check: Check[EngineAdapter], got: Mapping[str, F32], want: Mapping[str, F32]) -> None:
    if got.keys() != want.keys():
        raise check.fail(
            "the state dict has other names",
            got=sorted(got.keys() - want.keys()),
            want=sorted(want.keys() - got.keys()),
        )
    wrong = [name for name in want if not np.array_equal(got[name], want[name])]
    if wrong:
        raise check.fail("the state dict has other values", got=f"{wrong} differ", want="the weights that were loaded")


def _apart(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    return {name: dtype for name, dtype in one.items() if other.get(name) != dtype}
