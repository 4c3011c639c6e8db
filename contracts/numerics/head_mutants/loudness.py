"""Engines that start where they must not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from contracts.mutant import Wrapper
from contracts.numerics.protocols import PLAIN
from contracts.numerics.sides import head

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.numerics.protocols import F32, HeadMode, HeadShape


class StartsAnyway(Wrapper):
    """Starts a plain model instead of a broken one of this kind."""

    kind = ""

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        if head.kind == self.kind:
            head = replace(head, kind="plain")
        return self.inner.start(weights, mode=mode, head=head)


@head.mutant("NU-M401a", killed_by="NU-401")
class StartsWithoutHead(StartsAnyway):
    """goes on where no head was found"""

    kind = "missing"


@head.mutant("NU-M401b", killed_by="NU-401")
class SaysNothingUseful(Wrapper):
    """fails on a missing head with an error about something else"""

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        if head.kind == "missing":
            raise RuntimeError("'NoneType' is not subscriptable")
        return self.inner.start(weights, mode=mode, head=head)


@head.mutant("NU-M402a", killed_by="NU-402")
class UpcastsQuantized(StartsAnyway):
    """upcasts quantized numbers"""

    kind = "quantized"


@head.mutant("NU-M403a", killed_by="NU-403", witness="quantized")
class RefusesWhenOff(Wrapper):
    """refuses a quantized head although the switch is off"""

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        return self.inner.start(weights, mode="fp32" if mode == "off" else mode, head=head)
