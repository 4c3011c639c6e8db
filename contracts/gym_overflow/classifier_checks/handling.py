"""52x: what Gym does once it has decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.gym_overflow import sources
from contracts.gym_overflow.sides import classifier

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.gym_overflow.protocols import ClassifierSource


@classifier.check("GO-521", source=sources.HANDLER)
def overflow_ends_as_length(check: Check[ClassifierSource], adapter: ClassifierSource) -> None:
    """An overflow ends the rollout with finish_reason "length", or with the "stop" that the source declares.

    Why: "length" is what the trainer masks; a rollout that ends as "stop" counts as finished by the model.

    Usual cause: the empty completion is returned as its builder makes it.
    """
    want = "stop" if "ends_with_stop" in adapter.capabilities else "length"
    got = {f"line {site.line}": site.handler.finish_reason for site in adapter.gym.sites}
    if set(got.values()) != {want}:
        raise check.fail("an overflow ends the rollout with another finish_reason", got=got, want=want)


@classifier.check("GO-522", source=sources.HANDLER)
def overflow_is_an_empty_completion(check: Check[ClassifierSource], adapter: ClassifierSource) -> None:
    """An overflow becomes an empty completion; it is raised instead only under a named flag that is off by default.

    Why: anything in the completion would be trained on; a raised overflow is a 500 to the trainer.

    Usual cause: the branch was made to propagate for one use and now does so for all.
    """
    for site in adapter.gym.sites:
        handler = site.handler
        if not handler.empty_completion or (handler.propagate_flag and handler.propagate_default is not False):
            raise check.fail(
                "an overflow does not become an empty completion",
                got=handler,
                want="an empty completion; propagation under a flag whose default is False",
                line=handler.line,
            )


@classifier.check("GO-523", source=sources.HANDLER)
def other_errors_are_raised(check: Check[ClassifierSource], adapter: ClassifierSource) -> None:
    """An error that is no overflow is raised.

    Why: a swallowed error is a rollout that looks finished.

    Usual cause: the `else` under the classifier was lost in a refactoring.
    """
    got = {f"line {site.line}": site.handler.otherwise for site in adapter.gym.sites}
    if set(got.values()) != {"raise"}:
        raise check.fail("an error that is no overflow is swallowed", got=got, want="raise")
