"""Gym sources as adapters of the classifier's contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from contracts.gym_overflow.gym import GymError
from contracts.gym_overflow.selection import gyms

if TYPE_CHECKING:
    from contracts.gym_overflow.gym import GymSource

#: Releases that end an overflowed rollout as "stop": the declared difference from all later ones.
ENDING_WITH_STOP = frozenset({"0.2.0", "0.2.1"})


@dataclass(frozen=True)
class SourceAdapter:
    """One Gym source.

    Attributes:
        gym: The source.
    """

    gym: GymSource

    @property
    def name(self) -> str:
        """Name in reports."""
        return self.gym.name

    @property
    def version(self) -> str:
        """The release, empty where it is not known."""
        return self.gym.release or ""

    @property
    def capabilities(self) -> frozenset[str]:
        """What the source has, as far as it is known without reading the branch under its classifier."""
        found = set()
        if self.gym.pinned and self.gym.release is not None:
            found.add("pinned")
        if self.gym.release in ENDING_WITH_STOP:
            found.add("ends_with_stop")
        try:
            if len(self.gym.sites) > 1:
                found.add("two_backends")
        except GymError:
            # A source that cannot be read has no backends to speak of; GO-501 says why.
            return frozenset(found)
        return frozenset(found)


def selected_sources() -> tuple[SourceAdapter, ...]:
    """The selected Gyms: all pinned releases, unless a run selects others."""
    return tuple(map(SourceAdapter, gyms()))
