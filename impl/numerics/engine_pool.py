"""Engines that take seconds to start, kept for the next who needs one like them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from impl.numerics.torch_adapter import HeadMode


class EnginePool:
    """An adapter over another's engines, which a refit of all weights makes new.

    Where `start` finds an idle engine of the same mode and head it refits it by the direct transport; otherwise, and
    for dummy weights, it starts one. This is right for an engine that after such a refit answers bit for bit as one
    started on the weights, which is what ``numerics.head`` holds it to: hold the adapter inside to that first.

    Attributes:
        inner: the adapter whose engines are kept; declares ``refit`` and ``direct``.
        name: its name.
        capabilities: what it declares.
        started: how many engines it started.
    """

    def __init__(self, inner: Any) -> None:
        """Keep engines of ``inner``.

        Raises:
            ValueError: its engines take no refits.
        """
        if not {"refit", "direct"} <= inner.capabilities:
            raise ValueError(f"{inner.name} does not declare `refit` and `direct`: its engines cannot be used again")
        self.inner = inner
        self.name: str = inner.name
        self.capabilities: frozenset[str] = inner.capabilities
        self.started = 0
        self._idle: dict[Any, list[Any]] = defaultdict(list)

    @property
    def version(self) -> str:
        """The version inside."""
        return str(self.inner.version)

    @property
    def vocab(self) -> int:
        """Tokens of the vocabulary."""
        return int(self.inner.vocab)

    def checkpoint(self, seed: int, head: Any = None) -> dict[str, NDArray[np.float32]]:
        """Weights of a model, from the adapter inside."""
        found: dict[str, NDArray[np.float32]] = self.inner.checkpoint(seed, head)
        return found

    def start(
        self, weights: Mapping[str, NDArray[np.float32]] | None, *, mode: HeadMode, head: Any = None
    ) -> PooledEngine:
        """An engine on these weights, kept or new; errors are those of the adapter inside."""
        idle = self._idle[mode, head]
        if weights is None or not idle:
            engine = self.inner.start(weights, mode=mode, head=head)
            self.started += 1
        else:
            engine = idle.pop()
            try:
                engine.refit(weights, transport="direct", order=sorted(weights))
            except BaseException:
                engine.close()
                raise
        return PooledEngine(engine, idle.append)

    def close(self) -> None:
        """Stop the idle engines, and the adapter inside where it holds something."""
        for idle in self._idle.values():
            while idle:
                idle.pop().close()
        if hasattr(self.inner, "close"):
            self.inner.close()


class PooledEngine:
    """An engine of a pool, until it is closed: then it goes back, and this handle is of no more use."""

    def __init__(self, engine: Any, give_back: Callable[[Any], None]) -> None:
        self._engine, self._give_back = engine, give_back

    def __getattr__(self, name: str) -> Any:
        if self._engine is None:
            raise RuntimeError(f"{name} of an engine that was closed: start another")
        return getattr(self._engine, name)

    def close(self) -> None:
        """Give the engine back; once."""
        engine, self._engine = self._engine, None
        if engine is not None:
            self._give_back(engine)
