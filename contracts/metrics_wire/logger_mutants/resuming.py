"""Defects of a resume."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.cases import Kind, Resumed
from contracts.metrics_wire.logger_mutants.tampering import Answer, CallMutant, Message, TamperedLogger, WireMutant
from contracts.metrics_wire.services import Service
from contracts.metrics_wire.sides import logger

if TYPE_CHECKING:
    from contracts.metrics_wire.logger_mutants.tampering import Line


@logger.mutant("MW-M611a", killed_by="MW-611")
class BeginsEmpty(WireMutant):
    """begins with empty series in each process"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Find nothing."""
        return Answer(HTTPStatus.NOT_FOUND) if message.method == "GET" else send(message)


@logger.mutant("MW-M611b", killed_by="MW-611")
class KeepsTheFirstValue(CallMutant):
    """keeps the first value of a step that is logged again"""

    class Remembering(TamperedLogger):
        """Knows the steps of every process."""

        def log_metrics(self, metrics: Any, step: Any, prefix: str = "", *rest: Any) -> None:
            """Log a step once."""
            if step not in self.mutant.seen:
                self.mutant.seen.add(step)
                self.inner.log_metrics(metrics, step, prefix, *rest)

    logger_class = Remembering

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.seen: set[Any] = set()


@logger.mutant("MW-M611c", killed_by="MW-611")
class SendsDescending(WireMutant):
    """sends the points of a series in descending order"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Turn the series round."""

        def change(series: dict[str, list[Any]]) -> None:
            for points in series.values():
                points.reverse()

        return send(message.with_series(change))


@logger.mutant("MW-M611d", killed_by="MW-611", witness=Resumed(Service.REPLACE, ((1, 5), (5, 7))))
class AppendsWithoutLooking(WireMutant):
    """appends the points of a step that is there already"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Double the last point."""

        def change(series: dict[str, list[Any]]) -> None:
            for points in series.values():
                points.extend(points[-1:])

        return send(message.with_series(change))


@logger.mutant("MW-M612a", killed_by="MW-612", witness=Kind("text"))
class WantsWellFormedBlobs(WireMutant):
    """takes a malformed blob for a failed read"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Fail for what is malformed."""
        answer = send(message)
        if message.method == "GET" and answer.is_success:
            metrics = json.loads(answer.body)["status_details"].get("metrics")
            if not isinstance(metrics, dict):
                return Answer(HTTPStatus.INTERNAL_SERVER_ERROR)
        return answer


@logger.mutant("MW-M613a", killed_by="MW-613")
class TakesFailuresForNothing(WireMutant):
    """takes a failed read for an empty one"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Find nothing where the read fails."""
        answer = send(message)
        return Answer(HTTPStatus.NOT_FOUND) if message.method == "GET" and not answer.is_success else answer


@logger.mutant("MW-M613b", killed_by="MW-613")
class NeverReadsAgain(WireMutant):
    """does not try a failed read again"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Go on to fail."""
        if send.memory.get("has_failed"):
            return Answer(HTTPStatus.INTERNAL_SERVER_ERROR)
        answer = send(message)
        send.memory["has_failed"] = message.method == "GET" and not answer.is_success
        return answer
