"""Defects that a 200, or a refusal, hides."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.endpoint_mutants.forging import JSON_TYPE, OK, Forged, Tampering
from contracts.gym_overflow.probe import Route
from contracts.gym_overflow.ruler import window_of
from contracts.gym_overflow.sides import endpoint

if TYPE_CHECKING:
    from contracts.gym_overflow.protocols import Answer


@endpoint.mutant("GO-M221a", killed_by="GO-221")
class TruncatesThePrompt(Tampering):
    """cuts five tokens off a prompt that fits"""

    def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        if path != Route.CHAT or answer.status != OK:
            return answer
        document = json.loads(answer.body)
        document["usage"]["prompt_tokens"] -= 5
        return Forged(OK, json.dumps(document).encode(), JSON_TYPE)


@endpoint.mutant("GO-M221b", killed_by="GO-221")
class SucceedsWithNothing(Tampering):
    """answers 200 without having generated a token"""

    def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        if path != Route.CHAT or answer.status != OK:
            return answer
        document = json.loads(answer.body)
        document["usage"]["completion_tokens"] = 0
        return Forged(OK, json.dumps(document).encode(), JSON_TYPE)


@endpoint.mutant("GO-M221c", killed_by="GO-221")
class CompletesWithAnError(Tampering):
    """puts the text of an error into the completion"""

    def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        if path != Route.CHAT or answer.status != OK:
            return answer
        document = json.loads(answer.body)
        for choice in document["choices"]:
            choice["message"]["content"] = "This model's maximum context length is exceeded."
        return Forged(OK, json.dumps(document).encode(), JSON_TYPE)


@endpoint.mutant("GO-M222a", killed_by="GO-222", witness=10)
class LimitsTheBody(Tampering):
    """refuses a prompt of several windows with 413"""

    def tampered(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        longest = len(json.dumps(body))
        reference = len(json.dumps({"prompt": "the " * window_of(self)}))
        return Forged(413, answer.body, answer.headers) if path == Route.CHAT and longest > reference else answer
