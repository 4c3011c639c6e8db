"""1xx: the window holds for every form of a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.gym_overflow import sources
from contracts.gym_overflow.endpoint_checks.window import hold_alike
from contracts.gym_overflow.judging import shown
from contracts.gym_overflow.probe import Probe, Route
from contracts.gym_overflow.prompt_forms import Form, FormedPrompt, send_formed
from contracts.gym_overflow.ruler import window_of
from contracts.gym_overflow.sides import endpoint

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.gym_overflow.protocols import Endpoint

OK = 200


@endpoint.check(
    "GO-119",
    source=sources.OPENAI_COMPLETIONS,
    requires={"completions", "token_prompts"},
    examples=tuple(FormedPrompt(form, offset) for form in Form for offset in (0, 1, -1)),
)
def every_prompt_is_held_against_the_window(check: Check[Endpoint], adapter: Endpoint, case: FormedPrompt) -> None:
    """Prompts of token ids, and each of several prompts, are held against the window as one text is.

    Why: multi-turn rollouts send token ids, so that nothing is tokenized twice; they overflow like any other.

    Usual cause: the guard counts the tokens of a text, and only of the first one.
    """
    answer = send_formed(adapter, case)
    if case.offset >= 0:
        hold_alike(check, adapter, answer, Probe(case.offset, 1), Route.COMPLETIONS)
    elif answer.status != OK:
        raise check.fail("a prompt that fits was refused", got=shown(answer), want=OK, window=window_of(adapter))
