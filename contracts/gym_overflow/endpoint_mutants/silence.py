"""Defects that a 200, or a refusal, hides."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.endpoint_mutants.forging import OK, Forged, edited
from contracts.gym_overflow.endpoint_mutants.tampering import Tampering
from contracts.gym_overflow.probe import Route
from contracts.gym_overflow.ruler import window_of
from contracts.gym_overflow.sides import endpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.answer import Answer


def _editing(defect: str, edit: Callable[[dict[str, Any]], None]) -> type[Tampering]:
    class Editing(Tampering):
        def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
            return edited(answer, edit) if path == Route.CHAT else answer

    Editing.__doc__ = defect
    return Editing


def _cut(document: dict[str, Any]) -> None:
    document["usage"]["prompt_tokens"] -= 5


def _empty(document: dict[str, Any]) -> None:
    document["usage"]["completion_tokens"] = 0


def _complete_with_an_error(document: dict[str, Any]) -> None:
    for choice in document["choices"]:
        choice["message"]["content"] = "This model's maximum context length is exceeded."


for _letter, _defect, _edit in (
    ("a", "cuts five tokens off a prompt that fits", _cut),
    ("b", "answers 200 without having generated a token", _empty),
    ("c", "puts the text of an error into the completion", _complete_with_an_error),
):
    endpoint.mutant(f"GO-M221{_letter}", killed_by="GO-221")(_editing(_defect, _edit))


@endpoint.mutant("GO-M222a", killed_by="GO-222", witness=10)
class LimitsTheBody(Tampering):
    """refuses a prompt of several windows with 413"""

    def tampered(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        longest = len(json.dumps(body))
        reference = len(json.dumps({"prompt": "the " * window_of(self)}))
        return Forged(413, answer.body, answer.headers) if path == Route.CHAT and longest > reference else answer


def _streaming(defect: str, change: Callable[[bytes], bytes]) -> type[Tampering]:
    class Streaming(Tampering):
        def tampered(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
            if body.get("stream") is not True or answer.status != OK:
                return answer
            return Forged(OK, change(answer.body), answer.headers)

    Streaming.__doc__ = defect
    return Streaming


_DONE, _ERROR = re.compile(rb"data: ?\[DONE\]"), b'data: {"error": {"message": "out of memory", "type": "error"}}\n\n'
for _letter, _defect, _change in (
    ("a", "puts an error into the stream", lambda body: _DONE.sub(_ERROR + rb"\g<0>", body)),
    ("b", "streams nothing but the end", lambda _: b"data: [DONE]\n\n"),
    ("c", "breaks the stream off", lambda body: _DONE.split(body)[0]),
):
    endpoint.mutant(f"GO-M223{_letter}", killed_by="GO-223")(_streaming(_defect, _change))
