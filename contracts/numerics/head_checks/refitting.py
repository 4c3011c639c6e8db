"""A chain of updates to one engine, and what a fresh engine answers after each."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from contracts.numerics.observation import Answers, Requests, difference, fresh_answers, requests_of, running
from contracts.numerics.protocols import PLAIN, TRANSPORTS
from contracts.numerics.updates import updated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from contracts.check import Check
    from contracts.numerics.cases import RefitCase
    from contracts.numerics.protocols import F32, Engine, EngineAdapter, HeadShape


class Chain:
    """One engine, one transport, and the updates of a case.

    Attributes:
        requests: what is asked after each update.
        weights: what the engine holds now.
    """

    def __init__(self, adapter: EngineAdapter, case: RefitCase, transport: str, shape: HeadShape = PLAIN) -> None:
        self.adapter, self.case, self.transport, self.shape = adapter, case, transport, shape
        self.requests: Requests = requests_of(adapter, case.seed, shape)
        self.weights: dict[str, F32] = dict(adapter.checkpoint(case.seed, shape))

    @staticmethod
    def transports(adapter: EngineAdapter) -> frozenset[str]:
        """The transports that an adapter declares.

        Raises:
            ValueError: none, although it declares ``refit``: a check over all of them would pass on nothing.
        """
        found = adapter.capabilities & frozenset(TRANSPORTS)
        if not found:
            raise ValueError(f"{adapter.name} declares `refit` and none of {', '.join(TRANSPORTS)}")
        return found

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """The engine, started and warmed as the case says."""
        with running(self.adapter, None if self.case.dummy else self.weights, shape=self.shape) as engine:
            if self.case.warm:
                self.requests.ask(engine)
            yield engine

    def refits(self, engine: Engine, between: Callable[[], None] | None = None) -> Iterator[int]:
        """Carry one update after the other, yielding after each its number."""
        rng = np.random.default_rng(self.case.shuffle)
        partial = "partial_refit" in self.adapter.capabilities
        for number, update in enumerate(self.case.updates):
            self.weights, changed = updated(self.adapter, self.weights, update, self.case.seed + number, self.shape)
            # An engine that started on dummy weights has nothing that a partial update could complete.
            whole = not partial or (self.case.dummy and number == 0)
            sent = {name: w for name, w in self.weights.items() if whole or name in changed}
            order = [str(name) for name in rng.permutation(sorted(sent))]
            engine.refit(sent, transport=self.transport, order=order, between=between)
            yield number

    def expected(self) -> Answers:
        """What an engine started on the present weights answers."""
        return fresh_answers(self.adapter, self.weights, self.requests, self.shape)

    def hold(self, check: Check[EngineAdapter], between: Callable[[Engine], None] | None = None) -> None:
        """Raise unless after every update the engine answers as a fresh one, bit for bit."""
        with self.engine() as engine:
            step = None if between is None else lambda: between(engine)
            for number in self.refits(engine, step):
                if found := difference(self.requests.ask(engine), self.expected()):
                    raise check.fail(
                        "after a refit the engine does not answer as a fresh one on the same weights",
                        got=found,
                        want="bit-identical answers",
                        transport=self.transport,
                        update=f"number {number + 1}: {self.case.updates[number]}",
                    )
