"""Rewrites an error that is no overflow: readable, an error object, and never taken for an overflow by its words."""

from __future__ import annotations

import json
import re

# Bytes, not text: an error may be JSON, nested JSON, HTML or no valid encoding at all, and every byte but these
# few must stay. A JSON escape of the separator reads as the separator once a client has decoded it.
_TRIGGERS = re.compile(rb"(context)(?: |\\+u0020)(length)|(max)(?:_|\\+u005f)(tokens)", re.IGNORECASE)


def rephrase(body: bytes) -> bytes:
    """Write every trigger word of every Gym release ("context length", "max_tokens") with a hyphen.

    The words keep their letters and case, so a reader still knows which field or limit is meant; keys, echoed
    input, nested and broken JSON are treated alike.
    """
    return _TRIGGERS.sub(lambda found: b"-".join(part for part in found.groups() if part is not None), body)


def as_error_object(body: bytes, status: int) -> bytes:
    """Turn the error that Starlette and FastAPI raise by themselves (`{"detail": "..."}`) into OpenAI's error object.

    A server that answers its own errors as OpenAI does still lets its framework's through. Any other body stays.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if not isinstance(document, dict) or document.keys() != {"detail"} or not isinstance(document["detail"], str):
        return body
    kind = "invalid_request_error" if status < 500 else "server_error"  # noqa: PLR2004 - HTTP's own boundary
    error = {"message": document["detail"], "type": kind, "param": None, "code": status}
    return json.dumps({"error": error}).encode()
