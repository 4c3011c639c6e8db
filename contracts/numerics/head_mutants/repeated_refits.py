"""Defects that show in partial, repeated and tied refits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from contracts.numerics.defects import AdapterDefect, EngineDefect, seeded
from contracts.numerics.protocols import EMBEDDING, HEAD, PLAIN
from contracts.numerics.sides import head
from contracts.numerics.stale import StaleHead

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.numerics.protocols import F32, HeadMode, HeadShape


class NotWhenAlone(StaleHead):
    """Invalidated by the weights of the body."""

    def keeps_old(self, sent: Mapping[str, F32], transport: str, *, between: bool) -> bool:
        del transport, between
        return not sent.keys() - self.old.keys()


class ResetByBody(EngineDefect):
    """A refit without the head refreshes the copy from what the engine started on."""

    def refit(self, weights: Mapping[str, F32], *, transport: str, order: Any = (), between: Any = None) -> None:
        if HEAD not in weights:
            old = np.roll(self.inner.weights()[HEAD], 1, axis=0)
            weights, order = {**weights, HEAD: old}, (*order, HEAD)
        self.inner.refit(weights, transport=transport, order=order, between=between)


class KnowsThemAlready(EngineDefect):
    """Skips weights that it has seen before."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._seen = [self.start_weights]

    def refit(self, weights: Mapping[str, F32], *, transport: str, order: Any = (), between: Any = None) -> None:
        known = any(
            seen is not None and all(np.array_equal(seen[name], weights[name]) for name in weights)
            for seen in self._seen
        )
        if not known:
            self._seen.append(weights)
            self.inner.refit(weights, transport=transport, order=order, between=between)


class Rebuilt(EngineDefect):
    """The copy lies elsewhere after each refit."""

    refits = 0

    def refit(self, *arguments: Any, **options: Any) -> None:
        self.inner.refit(*arguments, **options)
        self.refits += 1

    def head_storage(self) -> int | None:
        address = self.inner.head_storage()
        return None if address is None else int(address) + 4096 * self.refits


class HeadNameLost(EngineDefect):
    """A tied weight that comes under the head's name first is taken for unknown, and the tie for done."""

    def refit(self, weights: Mapping[str, F32], *, transport: str, order: Any = (), between: Any = None) -> None:
        names = list(order or weights)
        if self.shape.tied and HEAD in names and names.index(HEAD) < names.index(EMBEDDING):
            weights = {name: weight for name, weight in weights.items() if name not in {HEAD, EMBEDDING}}
            order = [name for name in names if name in weights]
        self.inner.refit(weights, transport=transport, order=order, between=between)


@head.mutant("NU-M311a", killed_by="NU-311")
def head_alone_is_missed(adapter: Any) -> Any:
    """refreshes the head only if the update has other weights too"""
    return seeded(NotWhenAlone)(adapter)


@head.mutant("NU-M312a", killed_by="NU-312")
def body_alone_spoils_the_head(adapter: Any) -> Any:
    """refreshes the head from somewhere else when the update does not have it"""
    return seeded(ResetByBody)(adapter)


@head.mutant("NU-M313a", killed_by="NU-313")
def weights_that_return_are_skipped(adapter: Any) -> Any:
    """takes weights that were there before for loaded already"""
    return seeded(KnowsThemAlready)(adapter)


@head.mutant("NU-M314a", killed_by="NU-314")
def copy_is_rebuilt(adapter: Any) -> Any:
    """builds the fp32 copy in new storage at every refit"""
    return seeded(Rebuilt)(adapter)


@head.mutant("NU-M315a", killed_by="NU-315")
def tie_is_lost(adapter: Any) -> Any:
    """drops a tied weight if the head's name comes before the embedding's"""
    return seeded(HeadNameLost)(adapter)


class KeepsItsHead(EngineDefect):
    """The head stays what the embedding was at the start."""

    def refit(self, weights: Mapping[str, F32], *, transport: str, order: Any = (), between: Any = None) -> None:
        sent = {**weights, HEAD: self.loaded[EMBEDDING]}
        names = (*order, HEAD) if order else ()
        self.inner.refit(sent, transport=transport, order=names, between=between)


@head.mutant("NU-M316a", killed_by="NU-316")
class TieIsACopy(AdapterDefect):
    """computes a tied head with a copy of the embedding that waits for the head's own name"""

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        if not head.tied or weights is None or mode not in self.modes:
            return self.inner.start(weights, mode=mode, head=head)
        untied = replace(head, tied=False)
        engine = self.inner.start({**weights, HEAD: weights[EMBEDDING]}, mode=mode, head=untied)
        return KeepsItsHead(engine, self.inner, weights, mode, head)
