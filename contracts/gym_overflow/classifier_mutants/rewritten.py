"""A Gym source with one rewrite, as an adapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.mutant import Wrapper

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.gym_overflow.gym import GymSource
    from contracts.gym_overflow.protocols import ClassifierSource


class Rewritten(Wrapper):
    """Another text in place of the source's own.

    Attributes:
        gym: The rewritten source.
    """

    def __init__(self, inner: ClassifierSource, gym: GymSource) -> None:
        super().__init__(inner)
        self.gym = gym


def rewriting(defect: str, rewrite: Callable[[GymSource], GymSource]) -> Callable[[ClassifierSource], ClassifierSource]:
    """A mutant that rewrites the source; ``defect`` says what is wrong with the result."""

    def wrap(adapter: ClassifierSource) -> ClassifierSource:
        return Rewritten(adapter, rewrite(adapter.gym))

    wrap.__doc__ = defect
    return wrap
