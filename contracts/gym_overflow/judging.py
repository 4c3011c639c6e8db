"""What the selected Gyms would make of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.gym_overflow.gym import verdict
from contracts.gym_overflow.selection import gyms

if TYPE_CHECKING:
    from contracts.answer import Answer


def text_of(answer: Answer) -> str:
    """The body as Gym decodes it."""
    return answer.body.decode(errors="replace")


def sites_that(answer: Answer, *, classify: bool) -> list[str]:
    """The sites, of all selected Gyms, that classify the answer as an overflow, or those that do not.

    Returns:
        Entries such as ``NeMo Gym 0.7.0 line 988``, in order of release and line.
    """
    body = text_of(answer)
    return [
        f"{gym.name} line {decision.site.line}"
        for gym in gyms()
        for decision in verdict(gym, answer.status, body).decisions
        if decision.overflow is classify
    ]


def triggers() -> tuple[str, ...]:
    """Every string that a site of a selected Gym looks for in a body, each once."""
    found = (trigger for gym in gyms() for site in gym.sites for trigger in site.classifier.triggers)
    return tuple(dict.fromkeys(found))


def shown(answer: Answer, limit: int = 400) -> str:
    """Status and body in one line, as a failure prints them."""
    body = text_of(answer)
    return f"{answer.status} {body[:limit]}{'...' if len(body) > limit else ''}"
