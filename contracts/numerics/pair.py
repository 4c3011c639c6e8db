"""A pair of engines as one adapter, for those who have the two already."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contracts.numerics.protocols import EngineAdapter


class PairAdapter:
    """A trainer's and a rollout engine's adapter, which read one checkpoint format, held together.

    It declares ``engines``, and ``refit`` if both do and take the direct transport. For ``metrics`` and ``config``
    derive a class that has the methods of `contracts.numerics.protocols.Pair` and adds the names.

    Attributes:
        train: the trainer's side; needs no ``generate``.
        rollout: the rollout engine's side; must declare ``generate``.
        name: both names.
    """

    def __init__(self, train: EngineAdapter, rollout: EngineAdapter) -> None:
        """Hold two adapters together.

        Raises:
            ValueError: the rollout engine cannot sample, or the vocabularies differ.
        """
        if "generate" not in rollout.capabilities:
            raise ValueError(f"{rollout.name} does not declare `generate`: it cannot be the rollout side of a pair")
        if train.vocab != rollout.vocab:
            raise ValueError(f"{train.name} has {train.vocab} tokens and {rollout.name} {rollout.vocab}")
        self.train, self.rollout = train, rollout
        self.name = f"{train.name}+{rollout.name}"

    @property
    def capabilities(self) -> frozenset[str]:
        """What the two can do together."""
        both = self.train.capabilities & self.rollout.capabilities
        return frozenset({"engines", "refit"} if both >= {"refit", "direct"} else {"engines"})
