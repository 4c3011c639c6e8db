"""Answers that a mutant puts in the place of the real ones."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.judging import text_of
from contracts.gym_overflow.protocols import EndpointWrapper
from contracts.gym_overflow.refusal import STATUS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from contracts.answer import Answer

JSON_TYPE = {"content-type": "application/json"}
OK = 200
_CLIENT_ERRORS = range(400, 500)


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
    return _as_object(None, answer.body) if answer.status == OK else {}


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


def is_refusal(answer: Answer) -> bool:
    """Whether the answer refuses an overflow."""
    return answer.status == STATUS and "maximum context length" in text_of(answer)


def is_client_error(answer: Answer) -> bool:
    """Whether the answer refuses a request for another reason."""
    return answer.status in _CLIENT_ERRORS and not is_refusal(answer)


def _as_object(sent: Any, content: bytes | None) -> dict[str, Any]:
    if content is not None:
        try:
            sent = json.loads(content)
        except ValueError:
            return {}
    return sent if isinstance(sent, dict) else {}


class Tampering(EndpointWrapper):
    """Lets every request through and may exchange the answer."""

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Forward the request, and tamper with the answer."""
        answer = super().request(method, path, json=json, content=content, headers=headers)
        return self.tampered(path, _as_object(json, content), answer)

    def tampered(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        """What is answered instead; ``body`` is empty where it is no JSON object."""
        raise NotImplementedError
