"""Answers that a mutant puts in the place of the real ones."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.refusal import CODES, MARKER, STATUS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from contracts.answer import Answer

JSON_TYPE = {"content-type": "application/json"}
OK = 200


@dataclass(frozen=True, slots=True)
class Forged:
    """An answer that no server gave."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=lambda: JSON_TYPE)


BARE = Forged(500, b"Internal Server Error", {"content-type": "text/plain"})


def with_status(answer: Answer, status: int) -> Forged:
    """The same answer under another status."""
    return Forged(status, answer.body, answer.headers)


def with_words(answer: Answer, old: str, new: str) -> Forged:
    """The same answer in other words."""
    return Forged(answer.status, answer.body.replace(old.encode(), new.encode()), answer.headers)


def document_of(answer: Answer) -> dict[str, Any]:
    """The JSON object of a 200, empty where it is another answer or a stream."""
    try:
        document = json.loads(answer.body) if answer.status == OK else {}
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def edited(answer: Answer, edit: Callable[[dict[str, Any]], None]) -> Answer:
    """The same 200 with a change in its JSON object; any other answer as it is."""
    if not (document := document_of(answer)):
        return answer
    edit(document)
    return Forged(OK, json.dumps(document).encode(), JSON_TYPE)


def error(status: int, message: str, code: object = None) -> Forged:
    """An OpenAI error object."""
    body = {"error": {"message": message, "type": "BadRequestError", "param": None, "code": code or status}}
    return Forged(status, json.dumps(body).encode())


#: How a conforming endpoint refuses an overflow.
REFUSED = error(STATUS, f"This model's {MARKER} is exceeded.", CODES[0])
