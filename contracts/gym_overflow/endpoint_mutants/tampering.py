"""What every mutant of answers is built on."""

from __future__ import annotations

import json as json_codec
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.endpoint_mutants.overlong import refuses_for_length
from contracts.gym_overflow.protocols import EndpointWrapper

if TYPE_CHECKING:
    from contracts.answer import Answer

_CLIENT_ERRORS = range(400, 500)


class Tampering(EndpointWrapper, ABC):
    """Lets every request through and may exchange the answer."""

    def request(self, method: str, path: str, **sent: Any) -> Answer:
        """Forward the request, and tamper with the answer."""
        answer = super().request(method, path, **sent)
        return self.tampered(path, _as_object(**sent), answer)

    @abstractmethod
    def tampered(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        """What is answered instead; ``body`` is empty where it is no JSON object."""


class TamperingWithRefusals(Tampering):
    """Lets every answer through but the refusal of an overflow, in whatever words."""

    def tampered(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        """Exchange a refusal."""
        return self.refused(path, body, answer) if refuses_for_length(self.inner, path, body, answer) else answer

    @abstractmethod
    def refused(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        """What is answered instead of the refusal ``answer``."""


class TamperingWithFaults(Tampering):
    """Lets every answer through but the refusal of a request for another reason than its length."""

    def tampered(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        """Exchange the answer to a client's fault."""
        at_fault = answer.status in _CLIENT_ERRORS and not refuses_for_length(self.inner, path, body, answer)
        return self.faulted(path, body, answer) if at_fault else answer

    @abstractmethod
    def faulted(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        """What is answered instead of the client error ``answer``."""


def _as_object(json: Any = None, content: bytes | None = None, **_: Any) -> dict[str, Any]:
    if content is not None:
        try:
            json = json_codec.loads(content)
        except ValueError:
            return {}
    return json if isinstance(json, dict) else {}
