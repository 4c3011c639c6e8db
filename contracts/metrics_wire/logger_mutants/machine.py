"""Defects that show in some orders of events only."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from contracts.metrics_wire.logger_mutants.tampering import Answer, Message, WireMutant
from contracts.metrics_wire.sides import logger

if TYPE_CHECKING:
    from contracts.metrics_wire.logger_mutants.tampering import Line


@logger.mutant("MW-M631a", killed_by="MW-631")
class TakesOverNothing(WireMutant):
    """begins with empty series where another process has left some"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Find nothing."""
        return Answer(HTTPStatus.NOT_FOUND) if message.method == "GET" else send(message)


@logger.mutant("MW-M631b", killed_by="MW-631")
class ForgetsWhatFailed(WireMutant):
    """forgets the points of a request that failed"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Acknowledge whatever comes of it."""
        answer = send(message)
        return answer if message.method == "GET" or answer.is_success else Answer(HTTPStatus.OK)
