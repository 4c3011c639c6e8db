"""Defects of the guard."""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from contracts.metrics_wire.service_cases import Kind
from contracts.metrics_wire.service_mutants.tampering import Forged, Message, Tampering
from contracts.metrics_wire.service_task import is_refused
from contracts.metrics_wire.sides import service

if TYPE_CHECKING:
    from contracts.metrics_wire.protocols import ServiceAnswer

_UNAUTHORIZED = 401


class _Guard(Tampering, ABC):
    """Another guard before a service that has one; a service without a token is left alone."""

    def tamper(self, message: Message) -> ServiceAnswer:
        token: str | None = getattr(self.inner, "token", None)
        return self.guard(message, token) if token else self.send(message)

    @abstractmethod
    def guard(self, message: Message, token: str) -> ServiceAnswer:
        """Answer a request to the service that has the token."""

    def admit(self, message: Message, token: str) -> ServiceAnswer:
        """Pass a request on as if it carried the token."""
        return self.send(replace(message, headers={**message.headers, "authorization": f"Bearer {token}"}))


def _given(message: Message) -> str:
    return next((value for name, value in message.headers.items() if name.lower() == "authorization"), "")


@service.mutant("MW-M971a", killed_by="MW-971", witness=Kind("none"))
class ServesItsDocumentToAnyone(_Guard):
    """serves its document without the token"""

    def guard(self, message: Message, token: str) -> ServiceAnswer:
        return self.admit(message, token) if message.path == "/openapi.json" else self.send(message)


@service.mutant("MW-M971b", killed_by="MW-971", witness=Kind("none"))
class AnswersUnknownRoutesToAnyone(_Guard):
    """answers 404 without the token for a route that does not exist"""

    def guard(self, message: Message, token: str) -> ServiceAnswer:
        answer = self.admit(message, token)
        return answer if answer.status == 404 and "/tasks/" not in message.path else self.send(message)  # noqa: PLR2004 - its defect


@service.mutant("MW-M971c", killed_by="MW-971", witness=Kind("a part of it"))
class ComparesTheBeginning(_Guard):
    """compares as much of the token as was given"""

    def guard(self, message: Message, token: str) -> ServiceAnswer:
        scheme, _, given = _given(message).partition(" ")
        starts = scheme == "Bearer" and given and token.startswith(given)
        return self.admit(message, token) if starts else self.send(message)


@service.mutant("MW-M971d", killed_by="MW-971", witness=Kind("none"))
class GuardsWritesOnly(_Guard):
    """lets anyone read"""

    def guard(self, message: Message, token: str) -> ServiceAnswer:
        return self.admit(message, token) if message.method == "GET" else self.send(message)


@service.mutant("MW-M971e", killed_by="MW-971", witness=Kind("it in capitals"))
class ComparesWithoutCase(_Guard):
    """compares the token without regard to case"""

    def guard(self, message: Message, token: str) -> ServiceAnswer:
        same = _given(message).lower() == f"bearer {token}".lower()
        return self.admit(message, token) if same else self.send(message)


@service.mutant("MW-M971f", killed_by="MW-971", witness=Kind("another as Basic"))
class ReadsBasicWithoutLooking(_Guard):
    """takes any user of Basic for one who knows the token"""

    def guard(self, message: Message, token: str) -> ServiceAnswer:
        _, _, given = _given(message).partition("Basic ")
        return self.admit(message, token) if given and base64.b64decode(given) else self.send(message)


@service.mutant("MW-M971g", killed_by="MW-971", witness=Kind("none"))
class AnswersPreflightsToAnyone(_Guard):
    """answers OPTIONS without the token"""

    def guard(self, message: Message, token: str) -> ServiceAnswer:  # noqa: ARG002 - as declared
        return Forged(200) if message.method == "OPTIONS" else self.send(message)


@service.mutant("MW-M972a", killed_by="MW-972")
class DeniesMistakes(_Guard):
    """answers every mistake of one who knows the token with 401"""

    def guard(self, message: Message, token: str) -> ServiceAnswer:  # noqa: ARG002 - as declared
        answer = self.send(message)
        return Forged(_UNAUTHORIZED) if message.is_update and is_refused(answer) else answer


@service.mutant("MW-M973a", killed_by="MW-973")
class LooksTheTaskUpFirst(_Guard):
    """denies with another message where there is no such task"""

    def guard(self, message: Message, token: str) -> ServiceAnswer:
        answer = self.send(message)
        if answer.status == _UNAUTHORIZED and is_refused(self.admit(message, token)):
            return Forged(_UNAUTHORIZED, b'{"message": "denied: no such task"}')
        return answer


@service.mutant("MW-M973b", killed_by="MW-973")
class QuotesTheToken(_Guard):
    """says in its denial what it expected"""

    def guard(self, message: Message, token: str) -> ServiceAnswer:
        answer = self.send(message)
        if answer.status != _UNAUTHORIZED:
            return answer
        return Forged(_UNAUTHORIZED, f'{{"message": "expected Bearer {token}"}}'.encode())
