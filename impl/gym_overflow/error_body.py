"""The error inside an answer's body: its message, its machine-readable words and its numbers, whatever the envelope.

OpenAI, vLLM (old and new), Anthropic, TGI, FastAPI and plain-text servers nest the same few things differently;
gateways wrap one server's body, as text, into the message of another.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from impl.gym_overflow.statements import bare_sentence

_DEEPEST_WRAPPING = 4


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What an error answer says.

    Attributes:
        message: The server's sentence; empty if it gives none.
        codes: The values of the error's `code`, `type` and `error_type` that are words.
        param: The request field the server blames, if it does.
        prompt_tokens: `n_prompt_tokens`, where a server (llama.cpp) gives it as a number of its own.
        window: `n_ctx`, likewise.
    """

    message: str = ""
    codes: tuple[str, ...] = ()
    param: str | None = None
    prompt_tokens: int | None = None
    window: int | None = None


def read_error_body(body: bytes) -> ErrorBody:
    """Read the error in a body; a body that is no JSON object is its own message."""
    return _read(body.decode("utf-8", errors="replace"), depth=0)


def _read(text: str, depth: int) -> ErrorBody:
    document = _as_mapping(text)
    if document is None:
        return ErrorBody(message=text)
    error = document.get("error", document)
    if not isinstance(error, Mapping):
        error = {**document, "message": error}
    message = error.get("message", error.get("detail"))
    message = message if isinstance(message, str) else ""
    outer = ErrorBody(
        message=message,
        codes=tuple(word for key in ("code", "type", "error_type") if isinstance(word := error.get(key), str) and word),
        param=param if isinstance(param := error.get("param"), str) else None,
        prompt_tokens=_whole(error.get("n_prompt_tokens")),
        window=_whole(error.get("n_ctx")),
    )
    wrapped = bare_sentence(message)
    if depth < _DEEPEST_WRAPPING and wrapped.startswith(("{", "b'{", 'b"{')) and _as_mapping(wrapped) is not None:
        return _read(wrapped, depth + 1)
    return outer


def _as_mapping(text: str) -> Mapping[str, Any] | None:
    text = bare_sentence(text) if not text.startswith("{") else text
    if text.startswith(("b'", 'b"')):
        try:
            text = ast.literal_eval(text.replace("\n", "\\n")).decode("utf-8", errors="replace")
        except (ValueError, SyntaxError, AttributeError):
            return None
    if not text.startswith("{"):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
