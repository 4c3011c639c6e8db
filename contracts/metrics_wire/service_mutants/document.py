"""Defects of the served document, and departures from it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_calls import TASK_ROUTE, ApiCall, departures, route_of
from contracts.metrics_wire.service_cases import Kind
from contracts.metrics_wire.service_mutants.tampering import HTML, Forged, Message, Tampering, edited
from contracts.metrics_wire.service_task import is_refused
from contracts.metrics_wire.sides import service
from contracts.served_document import DOCUMENT

if TYPE_CHECKING:
    from contracts.metrics_wire.protocols import JobsService, ServiceAnswer

_READ = ApiCall("GET", TASK_ROUTE)
_FORBIDDEN = ApiCall("PUT", TASK_ROUTE, (), (), "application/json", '{"status": "done"}', allowed=False)
_BAD = Kind("PUT an unknown status")
_TASK = re.compile(TASK_ROUTE.replace("{}", "{[^}]*}"))


def _operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [operations for path, operations in document["paths"].items() if _TASK.match(path)]


def _undocumented(service: JobsService, message: Message, answer: ServiceAnswer, status: int) -> ServiceAnswer:
    """``answer`` under another status; where the document describes that one too, by a range, in another type."""
    route = route_of(service, f"{TASK_ROUTE}/metrics" if message.is_append else TASK_ROUTE)
    other = Forged(status, answer.body, answer.headers)
    is_told = route is None or departures(service, message.method, route, other)
    return other if is_told else Forged(answer.status, answer.body, HTML)


@service.mutant("MW-M961a", killed_by="MW-961")
class LeavesARouteOut(Tampering):
    """leaves the update of a task out of the document"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        if message.path != DOCUMENT:
            return answer
        return edited(answer, lambda document: [each.pop("put", None) for each in _operations(document)])


@service.mutant("MW-M961b", killed_by="MW-961")
class DocumentsNoRefusal(Tampering):
    """documents the answers of a task that is read, and no refusal"""

    def tamper(self, message: Message) -> ServiceAnswer:
        def drop(document: dict[str, Any]) -> None:
            for each in _operations(document):
                responses = each.get("get", {}).get("responses", {})
                for status in [status for status in responses if status.startswith("4")]:
                    del responses[status]

        answer = self.send(message)
        return edited(answer, drop) if message.path == DOCUMENT else answer


@service.mutant("MW-M961c", killed_by="MW-961")
class ServesNoDocument(Tampering):
    """answers 404 for its document"""

    def tamper(self, message: Message) -> ServiceAnswer:
        return Forged(404) if message.path == DOCUMENT else self.send(message)


@service.mutant("MW-M962a", killed_by="MW-962", witness=_READ)
class AnswersAnUndocumentedStatus(Tampering):
    """reads a task with a status, or a type, that the document does not list"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        return _undocumented(self.inner, message, answer, 203) if message.is_read else answer


@service.mutant("MW-M962b", killed_by="MW-962", witness=_READ)
class AnswersAnotherSchema(Tampering):
    """reads a status that the document does not list"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        return edited(answer, lambda task: task.update(status=["active"])) if message.is_read else answer


@service.mutant("MW-M962c", killed_by="MW-962", witness=_FORBIDDEN)
class TakesEverything(Tampering):
    """takes a body that the document forbids"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        return self.write(message, {}) if message.is_update and is_refused(answer) else answer


@service.mutant("MW-M962d", killed_by="MW-962", witness=_FORBIDDEN)
class ChangesWhatItRefuses(Tampering):
    """stores another status where it refuses one"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        if message.is_update and is_refused(answer):
            self.write(message, {"status": "error"})
        return answer


@service.mutant("MW-M962e", killed_by="MW-962", witness=_FORBIDDEN)
class FailsOnForbiddenBodies(Tampering):
    """answers a body that the document forbids with 500"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        return Forged(500, answer.body, answer.headers) if is_refused(answer) else answer


@service.mutant("MW-M963a", killed_by="MW-963", witness=_BAD)
class RefusesUndocumented(Tampering):
    """refuses with a status, or a type, that the document does not list"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        wrote = message.is_update or message.is_append
        return _undocumented(self.inner, message, answer, 418) if wrote and is_refused(answer) else answer


@service.mutant("MW-M963b", killed_by="MW-963", witness=_BAD)
class RefusesInAnotherShape(Tampering):
    """refuses with the framework's own object"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        return Forged(answer.status, b'{"detail": [{"loc": ["status"]}]}') if is_refused(answer) else answer
