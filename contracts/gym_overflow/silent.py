"""Requests whose prompt fits while prompt and output limit together do not, and what a truthful answer to them says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.judging import text_of
from contracts.gym_overflow.probe import Probe, Route, body_of
from contracts.gym_overflow.refusal import MARKER
from contracts.gym_overflow.ruler import window_of

if TYPE_CHECKING:
    from contracts.gym_overflow.protocols import Answer, Endpoint


@dataclass(frozen=True)
class Exceeding:
    """A prompt that leaves room for ``room`` tokens, with an output limit ``excess`` tokens above that."""

    room: int = 4
    excess: int = 1


def clamped_answer(endpoint: Endpoint, case: Exceeding, route: Route, field: str) -> Answer:
    """Ask for more output than fits, with the limit in ``field``."""
    limit = {field: case.room + case.excess, "ignore_eos": True}
    return endpoint.request("POST", route, json=body_of(endpoint, Probe(offset=-case.room), route, **limit))


def lies(endpoint: Endpoint, answer: Answer, prompt_tokens: int) -> list[str]:
    """What a 200 says that is not so: a shorter prompt, no output, more output than fits, an error as completion."""
    document = json.loads(answer.body)
    usage = document.get("usage") or {}
    stated = usage.get("prompt_tokens", usage.get("input_tokens"))
    output = usage.get("completion_tokens", usage.get("output_tokens"))
    found = []
    if stated != prompt_tokens:
        found.append(f"usage states {stated} prompt tokens, the prompt has {prompt_tokens}")
    if not isinstance(output, int) or output < 1:
        found.append(f"usage states {output} generated tokens")
    elif prompt_tokens + output > window_of(endpoint):
        found.append(f"{prompt_tokens} + {output} tokens do not fit the window of {window_of(endpoint)}")
    if MARKER in text_of(answer):
        found.append("the completion holds the text of an error")
    return found


def ending(document: dict[str, Any]) -> str | None:
    """Why the generation ended: the ``finish_reason``, or what stands for it on the responses route."""
    if "choices" in document:
        reason: str | None = document["choices"][0].get("finish_reason")
        return reason
    details = document.get("incomplete_details") or {}
    return "length" if details.get("reason") == "max_output_tokens" else document.get("status")
