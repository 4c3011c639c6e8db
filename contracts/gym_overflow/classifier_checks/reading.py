"""50x: every classifier of the source is found and understood."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.gym_overflow import sources
from contracts.gym_overflow.gym import GymError, pinned_releases, verdict
from contracts.gym_overflow.recorded_answers import measured_answers
from contracts.gym_overflow.sides import classifier

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.gym_overflow.protocols import ClassifierSource


@classifier.check("GO-501", source=sources.CLASSIFIER)
def classifier_is_found_and_read(check: Check[ClassifierSource], adapter: ClassifierSource) -> None:
    """The classifier is found by the name of its variable, and its expression and branch are understood.

    Why: a renamed variable or a moved file would otherwise leave the contract holding nothing, and green.

    Usual cause: Gym was refactored; the contract has to be taught the new place.
    """
    try:
        sites = adapter.gym.sites
    except GymError as error:
        raise check.fail("the classifier cannot be read", got=str(error), want="at least one site") from error
    if not sites:
        raise check.fail("the source has no classifier", got=sites, want="at least one site")


@classifier.check("GO-502", source=sources.CLASSIFIER, requires={"pinned"})
def pinned_sites_are_all_there(check: Check[ClassifierSource], adapter: ClassifierSource) -> None:
    """A pinned release has its classifiers exactly at the pinned lines.

    Why: a site that is passed over is a backend that nobody holds to the contract.

    Usual cause: a file that is not the published one, or a reader that misses a site.
    """
    pinned = next(row for row in pinned_releases() if row.release == adapter.version)
    lines = tuple(site.line for site in adapter.gym.sites)
    if lines != tuple(pinned.sites):
        raise check.fail("the sites are not where they are pinned", got=lines, want=tuple(pinned.sites))


@classifier.check("GO-503", source=sources.CLASSIFIER, requires={"two_backends"})
def backends_decide_alike(check: Check[ClassifierSource], adapter: ClassifierSource) -> None:
    """A Gym with a chat and a completions backend decides in both, and alike on every measured answer.

    Why: an endpoint can only satisfy both if they ask for the same.

    Usual cause: one of the two copies of the expression was edited.
    """
    if len(adapter.gym.sites) < 2:  # noqa: PLR2004 - both backends
        raise check.fail("a backend has no classifier", got=[site.function for site in adapter.gym.sites], want="two")
    for answer in measured_answers():
        decided = verdict(adapter.gym, answer.status, answer.body)
        if not decided.agreement:
            raise check.fail(
                "two backends of one Gym decide differently",
                got={f"line {decision.site.line}": decision.overflow for decision in decided.decisions},
                want="one verdict",
                answer=answer,
            )
