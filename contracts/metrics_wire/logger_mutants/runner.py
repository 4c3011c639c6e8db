"""Defects of the runner."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.cases import Kind
from contracts.metrics_wire.logger_mutants.tampering import Answer, CallMutant, Message, Silenced, WireMutant
from contracts.metrics_wire.sides import logger

if TYPE_CHECKING:
    from contracts.metrics_wire.logger_mutants.tampering import Line


class _OfTheRunner(WireMutant):
    tampers_training = False


def _stored(message: Message, send: Line) -> dict[str, Any]:
    answer = send(Message("GET", message.path, b""))
    details: dict[str, Any] = json.loads(answer.body).get("status_details", {}) if answer.is_success else {}
    return details


def _with_metrics(message: Message, metrics: dict[str, Any]) -> Message:
    return message.with_details(lambda details: details.update(metrics=metrics))


_BLANK: dict[str, Any] = {"train_loss": [], "val_loss": []}


@logger.mutant("MW-M621a", killed_by="MW-621")
class ReportsWithoutTheSeries(_OfTheRunner):
    """reports from the runner without the series"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Blank them."""
        return send(_with_metrics(message, _BLANK))


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
        stored = _stored(message, send)

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


class _AlwaysWhole(_OfTheRunner):
    def tamper(self, message: Message, send: Line) -> Answer:
        return send(_with_metrics(message, _stored(message, send).get("metrics", _BLANK)))


@logger.mutant("MW-M625a", killed_by="MW-625")
class SendsNothingWithoutTheSeries(_AlwaysWhole):
    """sends no update without the whole of the series"""


@logger.mutant("MW-M625b", killed_by="MW-625")
class BlanksWhatIsTooLarge(_AlwaysWhole):
    """blanks the series where they are too large to go with the status"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Send it whole, or blank if it is too large."""
        answer = super().tamper(message, send)
        if answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return send(_with_metrics(message, _BLANK))
        return answer


@logger.mutant("MW-M625c", killed_by="MW-625")
class LeavesOutInSilence(CallMutant):
    """says nothing of what it leaves out for its size"""

    def runner(self, task_url: str) -> Any:
        """A runner that says nothing."""
        return Silenced(self.inner.runner(task_url))
