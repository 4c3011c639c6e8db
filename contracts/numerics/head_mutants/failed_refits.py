"""Defects of how a refit fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.numerics.defects import EngineDefect, seeded
from contracts.numerics.head_checks.failed_refits import BROKEN_NAME, SenderLostError
from contracts.numerics.protocols import HEAD
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.numerics.protocols import F32


class Swallows(EngineDefect):
    """Leaves out what it does not know."""

    def refit(self, weights: Mapping[str, F32], *, transport: str, order: Any = (), between: Any = None) -> None:
        known = {name: weight for name, weight in weights.items() if name != BROKEN_NAME}
        kept = [name for name in order if name in known]
        self.inner.refit(known, transport=transport, order=kept, between=between)


class Mixes(EngineDefect):
    """Loads what it knows except the head, then raises, and runs on."""

    def refit(self, weights: Mapping[str, F32], *, transport: str, order: Any = (), between: Any = None) -> None:
        if BROKEN_NAME not in weights:
            self.inner.refit(weights, transport=transport, order=order, between=between)
            return
        held = self.inner.weights()
        half = {name: held[name] if name == HEAD else w for name, w in weights.items() if name in held}
        self.inner.refit(half, transport=transport, order=list(half), between=between)
        raise KeyError(BROKEN_NAME)


class FailsOnce(EngineDefect):
    """After a failure the next refit does not reach the head."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.failed = False
        self._old = self.inner.weights()[HEAD]

    def refit(self, weights: Mapping[str, F32], *, transport: str, order: Any = (), between: Any = None) -> None:
        if self.failed and HEAD in weights:
            weights = {**weights, HEAD: self._old}
        try:
            self.inner.refit(weights, transport=transport, order=order, between=between)
        except Exception:
            self.failed = True
            raise


@head.mutant("NU-M321a", killed_by="NU-321")
def errors_are_swallowed(adapter: Any) -> Any:
    """ignores weights whose names it does not know"""
    return seeded(Swallows)(adapter)


@head.mutant("NU-M321b", killed_by="NU-321")
def half_an_update_runs(adapter: Any) -> Any:
    """runs on with half of a failed update"""
    return seeded(Mixes)(adapter)


@head.mutant("NU-M322a", killed_by="NU-322")
def failure_blocks_the_head(adapter: Any) -> Any:
    """keeps the old head after a failed refit, also in the next one"""
    return seeded(FailsOnce)(adapter)


class RunsOn(EngineDefect):
    """What arrived before the break stays, and the engine runs on it."""

    tells = True

    def refit(self, weights: Mapping[str, F32], *, transport: str, order: Any = (), between: Any = None) -> None:
        lost: list[SenderLostError] = []

        def watched() -> None:
            try:
                between()
            except SenderLostError as error:
                lost.append(error)

        self.inner.refit(weights, transport=transport, order=order, between=watched if between else None)
        if lost and self.tells:
            raise lost[0]


class RunsOnSilently(RunsOn):
    """The same, and nobody hears of it."""

    tells = False


@head.mutant("NU-M323a", killed_by="NU-323")
def break_is_the_end(adapter: Any) -> Any:
    """takes a lost connection for the end of the update"""
    return seeded(RunsOnSilently)(adapter)


@head.mutant("NU-M323b", killed_by="NU-323")
def runs_on_after_the_break(adapter: Any) -> Any:
    """reports a lost connection and answers from what had arrived"""
    return seeded(RunsOn)(adapter)
