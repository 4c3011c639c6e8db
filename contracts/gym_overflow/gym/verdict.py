"""What one Gym would decide about one upstream answer, site by site."""

from dataclasses import dataclass

from contracts.gym_overflow.gym.sites import Site
from contracts.gym_overflow.gym.source import GymSource


@dataclass(frozen=True)
class Decision:
    """One site's decision.

    Attributes:
        site: the classifier and its place.
        overflow: whether it calls the answer out of context.
    """

    site: Site
    overflow: bool


@dataclass(frozen=True)
class Verdict:
    """All sites' decisions about one answer.

    Attributes:
        source: name of the Gym.
        status: HTTP status of the answer.
        body: its decoded body.
        decisions: one per site, in order of lines; at least one.
    """

    source: str
    status: int
    body: str
    decisions: tuple[Decision, ...]

    @property
    def overflow(self) -> bool:
        """Whether every site calls the answer out of context."""
        return all(decision.overflow for decision in self.decisions)

    @property
    def overflow_anywhere(self) -> bool:
        """Whether at least one site does."""
        return any(decision.overflow for decision in self.decisions)

    @property
    def agreement(self) -> bool:
        """Whether all sites say the same."""
        return self.overflow == self.overflow_anywhere


def verdict(source: GymSource, status: int, body: str) -> Verdict:
    """Ask every site of a Gym about one answer.

    Args:
        source: the Gym.
        status: HTTP status of the upstream's answer.
        body: its decoded body.

    Raises:
        GymError: a site cannot be read, or its expression raises for this answer.
    """
    decisions = tuple(Decision(site, site.classifier.evaluate(status, body)) for site in source.sites)
    return Verdict(source.name, status, body, decisions)
