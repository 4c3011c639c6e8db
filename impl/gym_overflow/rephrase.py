"""Rewords an error that is no overflow, so that no classifier that looks for words takes it for one."""

from __future__ import annotations

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
