"""The forms that a prompt of ``/v1/completions`` can have besides one text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.probe import Probe, Route, body_of
from contracts.gym_overflow.ruler import model_of, window_of

if TYPE_CHECKING:
    from contracts.answer import Answer
    from contracts.gym_overflow.protocols import Endpoint

#: A token that every vocabulary has.
_TOKEN = 10


class Form(StrEnum):
    """One form of the field ``prompt``."""

    IDS = "token ids"
    TEXTS = "several texts"
    LISTS_OF_IDS = "several lists of token ids"


@dataclass(frozen=True)
class FormedPrompt:
    """A prompt of ``window + offset`` tokens; where there are several, it is the last one, after a short one."""

    form: Form
    offset: int = 0


def send_formed(endpoint: Endpoint, case: FormedPrompt) -> Answer:
    """Send the prompt to ``/v1/completions``, for one token each."""
    return endpoint.request("POST", Route.COMPLETIONS, json=_body(endpoint, case))


def _body(endpoint: Endpoint, case: FormedPrompt) -> dict[str, Any]:
    if case.form is Form.TEXTS:
        body = body_of(endpoint, Probe(case.offset, 1), Route.COMPLETIONS)
        return {**body, "prompt": ["a", body["prompt"]]}
    ids = [_TOKEN] * (window_of(endpoint) + case.offset)
    prompt = ids if case.form is Form.IDS else [[_TOKEN], ids]
    return {"model": model_of(endpoint), "prompt": prompt, "max_tokens": 1}
