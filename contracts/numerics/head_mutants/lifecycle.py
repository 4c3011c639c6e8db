"""Defects of prefix cache, sleep and wake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.numerics.defects import EngineDefect, seeded
from contracts.numerics.sides import head
from contracts.numerics.stale import StaleHead

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contracts.numerics.protocols import F32


class RemembersPrompts(EngineDefect):
    """Answers a prompt that it knows from what it knows."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._known: dict[tuple[Any, ...], Any] = {}

    def generate(self, prompts: Sequence[Sequence[int]], *, max_tokens: int, seed: int) -> Any:
        key = (tuple(map(tuple, prompts)), max_tokens, seed)
        if key not in self._known:
            self._known[key] = self.inner.generate(prompts, max_tokens=max_tokens, seed=seed)
        return self._known[key]


class NeverSleeps(EngineDefect):
    """Keeps everything through the sleep and reports success."""

    def sleep(self) -> None:
        """Nothing."""

    def wake(self) -> None:
        """Nothing."""


class OldHeadAfterSleep(StaleHead):
    """Keeps the copy through the sleep and does not invalidate it when weights come back."""

    slept = False

    def sleep(self) -> None:
        self.slept = True
        self.inner.sleep()

    def keeps_old(self, sent: Mapping[str, F32], transport: str, *, between: bool) -> bool:
        del sent, transport, between
        return self.slept


@head.mutant("NU-M331a", killed_by="NU-331")
def prefixes_outlive_weights(adapter: Any) -> Any:
    """answers a known prompt from what was cached before the refit"""
    return seeded(RemembersPrompts)(adapter)


@head.mutant("NU-M332a", killed_by="NU-332")
def old_weights_wake_up(adapter: Any) -> Any:
    """wakes with the weights it went to sleep with"""
    return seeded(NeverSleeps)(adapter)


@head.mutant("NU-M333a", killed_by="NU-333")
def old_head_wakes_up(adapter: Any) -> Any:
    """wakes with the head it went to sleep with, and keeps it through the reload"""
    return seeded(OldHeadAfterSleep)(adapter)
