"""Stale heads, for every transport. `contracts.numerics.stale` says how staleness is made from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.numerics.cases import RefitCase
from contracts.numerics.defects import seeded
from contracts.numerics.sides import head
from contracts.numerics.stale import StaleHead

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.numerics.protocols import F32

CHECK_OF = {"direct": "NU-301", "collective": "NU-302", "checkpoint": "NU-303", "delta": "NU-304"}
SMALL_STEP = RefitCase(updates=("step",))
TWICE = RefitCase(updates=("step", "step"))


def never_through(transport: str) -> type[StaleHead]:
    """Invalidation removed from one transport."""

    class NeverThrough(StaleHead):
        def keeps_old(self, sent: Mapping[str, F32], transport_used: str, *, between: bool) -> bool:
            del sent, between
            return transport_used == transport

    return NeverThrough


class OnlyFirst(StaleHead):
    """Invalidated by the first refit, and never again."""

    def keeps_old(self, sent: Mapping[str, F32], transport: str, *, between: bool) -> bool:
        del sent, transport, between
        return self.refits > 0


class OneBehind(StaleHead):
    """Refreshed at the begin of a refit, so with the head of the one before."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._next = dict(self.old)

    def keeps_old(self, sent: Mapping[str, F32], transport: str, *, between: bool) -> bool:
        del transport, between
        self.old, self._next = self._next, self._next | {name: sent[name] for name in self.old if name in sent}
        return True


class ConsumedBetween(StaleHead):
    """A forward between two batches consumes the mark that only the begin of the update set."""

    def keeps_old(self, sent: Mapping[str, F32], transport: str, *, between: bool) -> bool:
        del sent, transport
        return between


class BuiltFromDummy(StaleHead):
    """A copy built from the weights that the engine started on, if those were dummies."""

    def keeps_old(self, sent: Mapping[str, F32], transport: str, *, between: bool) -> bool:
        del sent, transport, between
        return self.start_weights is None


class OnlyThroughDirect(StaleHead):
    """Invalidated in the one transport that was tested."""

    def keeps_old(self, sent: Mapping[str, F32], transport: str, *, between: bool) -> bool:
        del sent, between
        return transport != "direct"


def _register(transport: str, check: str) -> None:
    """The same three defects for one transport."""

    def invalidation_removed(adapter: Any) -> Any:
        return seeded(never_through(transport))(adapter)

    invalidation_removed.__doc__ = f"does not refresh the head on a refit through the {transport} transport"
    head.mutant(f"NU-M{check[3:]}a", killed_by=check, witness=SMALL_STEP)(invalidation_removed)

    @head.mutant(f"NU-M{check[3:]}b", killed_by=check, witness=TWICE)
    def invalidated_once(adapter: Any) -> Any:
        """refreshes the head at the first refit only"""
        return seeded(OnlyFirst)(adapter)

    @head.mutant(f"NU-M{check[3:]}c", killed_by=check, witness=SMALL_STEP)
    def one_update_behind(adapter: Any) -> Any:
        """refreshes the head before the new weights are written"""
        return seeded(OneBehind)(adapter)

    if transport != "direct":

        @head.mutant(f"NU-M{check[3:]}d", killed_by=check, witness=SMALL_STEP)
        def only_through_direct(adapter: Any) -> Any:
            """refreshes the head only on direct refits"""
            return seeded(OnlyThroughDirect)(adapter)


for _transport, _check in CHECK_OF.items():
    _register(_transport, _check)


@head.mutant("NU-M305a", killed_by="NU-305")
def mark_is_consumed(adapter: Any) -> Any:
    """keeps the old head if a forward ran between two batches"""
    return seeded(ConsumedBetween)(adapter)


@head.mutant("NU-M306a", killed_by="NU-306")
def built_from_dummy_weights(adapter: Any) -> Any:
    """keeps the head that it built from dummy weights"""
    return seeded(BuiltFromDummy)(adapter)
