"""Defects of the runner."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.cases import Kind
from contracts.metrics_wire.logger_mutants.tampering import Answer, Message, WireMutant
from contracts.metrics_wire.sides import logger

if TYPE_CHECKING:
    from contracts.metrics_wire.logger_mutants.tampering import Line


class _OfTheRunner(WireMutant):
    tampers_training = False


@logger.mutant("MW-M621a", killed_by="MW-621")
class ReportsWithoutTheSeries(_OfTheRunner):
    """reports from the runner without the series"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Blank them."""
        return send(message.with_details(lambda details: details.update(metrics={"train_loss": [], "val_loss": []})))


@logger.mutant("MW-M621b", killed_by="MW-621", witness=Kind("completed"))
class OmitsTheStatus(_OfTheRunner):
    """leaves the status to the service"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Drop it."""
        if message.method == "PUT":
            value = message.json
            value["status"] = "pending"
            message = message.with_json(value)
        return send(message)


@logger.mutant("MW-M622a", killed_by="MW-622")
class CarriesEverythingOver(_OfTheRunner):
    """carries the whole of the stored details over"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Merge what is stored into the report."""
        answer = send(Message("GET", message.path, b""))
        stored: dict[str, Any] = json.loads(answer.body).get("status_details", {}) if answer.is_success else {}

        def change(details: dict[str, Any]) -> None:
            details.update({**stored, **details})

        return send(message.with_details(change))


@logger.mutant("MW-M623a", killed_by="MW-623")
class ReadsTwice(_OfTheRunner):
    """reads what is stored twice"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Read once more."""
        if message.method == "PUT":
            send(Message("GET", message.path, b""))
        return send(message)


@logger.mutant("MW-M624a", killed_by="MW-624")
class OverwritesUnread(_OfTheRunner):
    """takes a failed read for an empty one"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Find nothing where the read fails."""
        answer = send(message)
        return Answer(HTTPStatus.NOT_FOUND) if message.method == "GET" and not answer.is_success else answer
