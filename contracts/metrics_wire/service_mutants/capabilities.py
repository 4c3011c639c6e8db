"""Capabilities that are there and were not declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_cases import Kind
from contracts.metrics_wire.service_mutants.tampering import Forged, Message, Tampering
from contracts.metrics_wire.sides import service

if TYPE_CHECKING:
    from contracts.metrics_wire.protocols import ServiceAnswer

_LIMIT = 1 << 20


class _Undeclared(Tampering):
    capability = ""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.capabilities = frozenset(inner.capabilities) - {self.capability}


@service.mutant("MW-M991a", killed_by="MW-991", witness=Kind("append"))
class AppendsUndeclared(_Undeclared):
    """takes appends without declaring it"""

    capability = "append"

    def tamper(self, message: Message) -> ServiceAnswer:
        return Forged(200) if message.is_append else self.send(message)


@service.mutant("MW-M991b", killed_by="MW-991", witness=Kind("restart"))
class RestartsUndeclared(_Undeclared):
    """can be killed and started again without declaring it"""

    capability = "restart"


@service.mutant("MW-M991c", killed_by="MW-991", witness=Kind("token"))
class GuardsUndeclared(_Undeclared):
    """has a guarded service without declaring it"""

    capability = "token"


@service.mutant("MW-M991d", killed_by="MW-991", witness=Kind("openapi"))
class DocumentsUndeclared(_Undeclared):
    """serves a document without declaring it"""

    capability = "openapi"

    def tamper(self, message: Message) -> ServiceAnswer:
        return Forged(200, b"{}") if message.path == "/openapi.json" else self.send(message)


@service.mutant("MW-M991e", killed_by="MW-991", witness=Kind("body_limit"))
class LimitsUndeclared(_Undeclared):
    """refuses large bodies without declaring it"""

    capability = "body_limit"

    def tamper(self, message: Message) -> ServiceAnswer:
        if len(message.body or b"") > _LIMIT:
            return Forged(413, b'{"message": "body: too large"}')
        return self.send(message)
