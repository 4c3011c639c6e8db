"""Defects of updates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_checks.updates import DETAILS_OMITTED, ERROR_REPLACED, NESTED
from contracts.metrics_wire.service_mutants.tampering import HTML, Forged, Message, Tampering, edited
from contracts.metrics_wire.service_task import JSON, is_acknowledged
from contracts.metrics_wire.sides import service

if TYPE_CHECKING:
    from contracts.metrics_wire.protocols import ServiceAnswer

_NOT_FOUND = 404


@service.mutant("MW-M911a", killed_by="MW-911")
class DoesTheOther(Tampering):
    """merges the details where it declares to replace them, and replaces them where it declares to merge"""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._sent: dict[str, dict[str, Any]] = {}

    def tamper(self, message: Message) -> ServiceAnswer:
        if message.is_update and "status_details" in message.json:
            body = message.json
            if self.update_rule == "replace":
                stored = self.read(message).get("status_details", {})
                return self.send(message.with_json({**body, "status_details": stored | body["status_details"]}))
            self._sent[message.task] = body["status_details"]
        last = self._sent.get(message.task) if message.is_read else None
        answer = self.send(message)
        return answer if last is None else edited(answer, lambda task: task.update(status_details=last))


@service.mutant("MW-M911b", killed_by="MW-911", witness=NESTED)
class MergesDeeply(Tampering):
    """merges the objects inside the details too"""

    def tamper(self, message: Message) -> ServiceAnswer:
        if message.is_update and "status_details" in message.json:
            stored = self.read(message).get("status_details", {})
            merged = _deeply(stored, message.json["status_details"])
            return self.send(message.with_json({**message.json, "status_details": merged}))
        return self.send(message)


def _deeply(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    both = {key: (old[key], new[key]) for key in old.keys() & new.keys()}
    return (old | new) | {
        key: _deeply(*pair) for key, pair in both.items() if isinstance(pair[0], dict) and isinstance(pair[1], dict)
    }


@service.mutant("MW-M912a", killed_by="MW-912")
class ResetsTheStatus(Tampering):
    """an omitted status makes the task pending"""

    def tamper(self, message: Message) -> ServiceAnswer:
        if message.is_update and "status" not in message.json:
            return self.send(message.with_json({"status": "pending", **message.json}))
        return self.send(message)


@service.mutant("MW-M912b", killed_by="MW-912", witness=DETAILS_OMITTED)
class EmptiesTheError(Tampering):
    """omitted error details empty those that are stored"""

    def tamper(self, message: Message) -> ServiceAnswer:
        if message.is_update:
            return self.send(message.with_json({"error_details": {}, **message.json}))
        return self.send(message)


@service.mutant("MW-M912c", killed_by="MW-912", witness=ERROR_REPLACED)
class KeepsTheFirstError(Tampering):
    """the first error of a task stays, whatever comes after it"""

    def tamper(self, message: Message) -> ServiceAnswer:
        if message.is_update and self.read(message).get("error_details"):
            body = {field: value for field, value in message.json.items() if field != "error_details"}
            return self.send(message.with_json(body))
        return self.send(message)


@service.mutant("MW-M913a", killed_by="MW-913")
class ShowsAnEmptyTask(Tampering):
    """answers for a task that nobody has written as for an empty one"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        if message.is_read and answer.status == _NOT_FOUND:
            return Forged(200, b'{"status": "pending", "status_details": {}}', JSON)
        return answer


@service.mutant("MW-M913b", killed_by="MW-913")
class MakesWhatIsRead(Tampering):
    """to read a task makes it"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        if message.is_read and answer.status == _NOT_FOUND:
            self.write(message, {})
        return answer


@service.mutant("MW-M913c", killed_by="MW-913")
class TellsOfAbsenceInHtml(Tampering):
    """answers for a task that nobody has written with a page of HTML"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        return Forged(_NOT_FOUND, b"<h1>Not Found</h1>", HTML) if answer.status == _NOT_FOUND else answer


@service.control("MW-C913a", tolerated_by="MW-913")
class MakesWhatIsAppendedTo(Tampering):
    """makes the task that an append finds absent"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        if message.is_append and answer.status == _NOT_FOUND:
            self.write(message, {})
            return self.send(message)
        return answer


@service.mutant("MW-M914a", killed_by="MW-914", witness="cancelling")
class KnowsFewerStatuses(Tampering):
    """stores cancelling as cancelled"""

    def tamper(self, message: Message) -> ServiceAnswer:
        if message.is_update and message.json.get("status") == "cancelling":
            return self.send(message.with_json({**message.json, "status": "cancelled"}))
        return self.send(message)


@service.control("MW-C914a", tolerated_by="MW-914")
class AnswersCreated(Tampering):
    """answers an update with 201"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        return Forged(201) if message.is_update and is_acknowledged(answer) else answer


@service.mutant("MW-M914b", killed_by="MW-914", witness="")
class MakesTasksOfNoStatus(Tampering):
    """a new task whose status was omitted has a status that does not exist"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        return edited(answer, lambda task: task.update(status="new")) if message.is_read else answer
