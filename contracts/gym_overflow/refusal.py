"""What is wrong with an answer that should refuse an overflow."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.judging import text_of

if TYPE_CHECKING:
    from contracts.answer import Answer

STATUS = 400
MARKER = "maximum context length"
CODES = ("context_length_exceeded", STATUS, str(STATUS))


def error_object(answer: Answer) -> dict[str, Any]:
    """The OpenAI error object of an answer, empty where there is none."""
    try:
        document = json.loads(answer.body)
    except ValueError:
        return {}
    found = document.get("error") if isinstance(document, dict) else None
    return found if isinstance(found, dict) else {}


def is_json(answer: Answer) -> bool:
    """Whether the answer says that it is JSON, and is."""
    try:
        json.loads(answer.body)
    except ValueError:
        return False
    return answer.headers.get("content-type", "").partition(";")[0].strip() == "application/json"


def is_error_object(answer: Answer) -> bool:
    """Whether the answer is an OpenAI error object in JSON: at least ``message`` and ``type``, as text."""
    error = error_object(answer)
    return is_json(answer) and all(isinstance(error.get(name), str) for name in ("message", "type"))


def problems(answer: Answer, *, prompt_tokens: int, window: int) -> list[str]:
    """Every way in which ``answer`` is not the refusal of a prompt of ``prompt_tokens`` tokens; empty if it is."""
    found = []
    if answer.status != STATUS:
        found.append(f"status {answer.status}, not {STATUS}")
    if not is_json(answer):
        found.append(f"no JSON: content type {answer.headers.get('content-type')!r}, body {text_of(answer)[:80]!r}")
    error = error_object(answer)
    message = error.get("message")
    if not isinstance(message, str):
        return [*found, "no error.message"]
    if MARKER not in message:
        found.append(f"error.message lacks {MARKER!r}")
    missing = Counter((prompt_tokens, window)) - Counter(map(int, re.findall(r"\d+", message)))
    if missing:
        found.append(f"error.message does not state both numbers, {prompt_tokens} of {window}: {message[:200]!r}")
    if error.get("code") not in CODES:
        found.append(f"error.code is {error.get('code')!r}")
    return found
