"""What mutants of this room are made of: adapters and engines that forward all but what a mutant corrupts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.mutant import Wrapper
from contracts.numerics.protocols import PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from contracts.numerics.protocols import F32, HeadMode, HeadShape


class EngineDefect(Wrapper):
    """An engine with a defect, and how it was started.

    Attributes:
        start_weights: what it was started on; None for dummy weights.
        mode: of its head.
        shape: of its head.
        adapter: the adapter that started it, without the defect.
    """

    def __init__(
        self, inner: Any, adapter: Any, start_weights: Mapping[str, F32] | None, mode: HeadMode, shape: HeadShape
    ) -> None:
        super().__init__(inner)
        self.adapter, self.start_weights, self.mode, self.shape = adapter, start_weights, mode, shape

    @property
    def loaded(self) -> Mapping[str, F32]:
        """The weights that it was started on.

        Raises:
            ValueError: it was started on dummy weights.
        """
        if self.start_weights is None:
            raise ValueError("this defect needs an engine that was started on real weights")
        return self.start_weights


class AdapterDefect(Wrapper):
    """An adapter whose engines have a defect.

    Attributes:
        engine: wraps each engine that is started.
        modes: the modes in which engines are wrapped.
    """

    engine: type[EngineDefect] = EngineDefect
    modes: frozenset[str] = frozenset({"fp32", "tf32"})

    def start(self, weights: Mapping[str, F32] | None, *, mode: HeadMode, head: HeadShape = PLAIN) -> Any:
        """Start an engine, with the defect where the mode asks for the feature."""
        engine = self.inner.start(weights, mode=mode, head=head)
        return self.engine(engine, self.inner, weights, mode, head) if mode in self.modes else engine


def seeded(engine: type[EngineDefect], *, modes: Sequence[str] = ("fp32", "tf32")) -> Callable[[Any], AdapterDefect]:
    """An adapter wrapper whose engines have this defect in these modes."""

    def wrap(adapter: Any) -> AdapterDefect:
        wrapped = AdapterDefect(adapter)
        wrapped.engine, wrapped.modes = engine, frozenset(modes)
        return wrapped

    return wrap
