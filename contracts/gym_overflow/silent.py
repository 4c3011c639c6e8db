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
    from contracts.answer import Answer
    from contracts.gym_overflow.protocols import Endpoint


_OK = 200


@dataclass(frozen=True)
class Exceeding:
    """A prompt that leaves room for ``room`` tokens, with an output limit ``excess`` tokens above that."""

    room: int = 4
    excess: int = 1


def clamped_answer(endpoint: Endpoint, case: Exceeding, route: Route, field: str) -> Answer:
    """Ask for more output than fits, with the limit in ``field``.

    The generation is asked not to end by itself, where the endpoint knows how to do that.
    """
    limit = {field: case.room + case.excess}
    body = body_of(endpoint, Probe(offset=-case.room), route, **limit)
    answer = endpoint.request("POST", route, json={**body, "ignore_eos": True})
    return answer if answer.status == _OK else endpoint.request("POST", route, json=body)


def clamped_wrongly(answer: Answer, room: int) -> str | None:
    """How the ending of a clamped generation is wrong, ``None`` where it is right.

    A generation that used all of its room ended as "length", and one that ended earlier did so by itself.
    """
    document = _parsed(text_of(answer))
    usage = document.get("usage") or {}
    generated = usage.get("completion_tokens", usage.get("output_tokens"))
    reason = _ending(document)
    if generated == room and reason != "length":
        return f"finish_reason is {reason!r}"
    if generated != room and reason == "length":
        return f"finish_reason is 'length' after {generated} of {room} tokens"
    return None


def lies(endpoint: Endpoint, answer: Answer, prompt_tokens: int) -> list[str]:
    """What a 200 says that is not so: a shorter prompt, no output, more output than fits, an error as completion."""
    document = _parsed(text_of(answer))
    if not document:
        return [f"no JSON object: content type {answer.headers.get('content-type')!r}"]
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


def stream_lies(answer: Answer) -> list[str]:
    """What is wrong with a stream of a chat completion: no events, no end, an error among them."""
    found = []
    if not answer.headers.get("content-type", "").startswith("text/event-stream"):
        found.append(f"content type {answer.headers.get('content-type')!r}")
    *events, last = [line[5:].strip() for line in text_of(answer).splitlines() if line.startswith("data:")] or [""]
    if last != "[DONE]":
        found.append("it does not end with [DONE]")
    documents = [_parsed(event) for event in events]
    if not all(isinstance(document.get("choices"), list) and "error" not in document for document in documents):
        found.append("an event is no chunk of a completion")
    elif not any(choice.get("finish_reason") for document in documents for choice in document["choices"]):
        found.append("no chunk has a finish_reason")
    if MARKER in text_of(answer):
        found.append("it holds the text of an error")
    return found


def _parsed(event: str) -> dict[str, Any]:
    try:
        document = json.loads(event)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _ending(document: dict[str, Any]) -> str | None:
    if "choices" in document:
        reason: str | None = document["choices"][0].get("finish_reason")
        return reason
    details = document.get("incomplete_details") or {}
    return "length" if details.get("reason") == "max_output_tokens" else document.get("status")
