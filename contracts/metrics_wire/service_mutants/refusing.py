"""Defects of refusals."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_cases import Kind
from contracts.metrics_wire.service_mutants.tampering import (
    FAILED,
    HTML,
    Forged,
    Message,
    Tampering,
    object_in,
    with_series,
)
from contracts.metrics_wire.service_task import is_refused
from contracts.metrics_wire.sides import service

if TYPE_CHECKING:
    from contracts.metrics_wire.protocols import ServiceAnswer

_NAN = Kind("value is NaN")
_TEXT = Kind("value is text")
_UNKNOWN = Kind("an unknown field")


class _OnRefusal(Tampering, ABC):
    """Answers otherwise what the service refuses of a write."""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        return self.otherwise(message, answer) if message.body is not None and is_refused(answer) else answer

    @abstractmethod
    def otherwise(self, message: Message, answer: ServiceAnswer) -> ServiceAnswer:
        """What is answered to a write that was refused."""


class _Fails(_OnRefusal):
    def otherwise(self, message: Message, answer: ServiceAnswer) -> ServiceAnswer:  # noqa: ARG002 - as declared
        return FAILED


@service.mutant("MW-M951a", killed_by="MW-951", witness=Kind("the body is nested without end"))
class FailsOnBadUpdates(_Fails):
    """answers an update that is wrong with 500"""


@service.mutant("MW-M952a", killed_by="MW-952")
class FailsOnBadAppends(_Fails):
    """answers an append that is wrong with 500"""


@service.mutant("MW-M951b", killed_by="MW-951", witness=_UNKNOWN)
class NamesNothing(_OnRefusal):
    """refuses without a word about what is wrong"""

    def otherwise(self, message: Message, answer: ServiceAnswer) -> ServiceAnswer:  # noqa: ARG002 - as declared
        return Forged(answer.status, b'{"message": "bad request"}')


@service.mutant("MW-M951c", killed_by="MW-951", witness=_NAN)
class StoresNullForNan(Tampering):
    """takes NaN and stores null"""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._nulls: set[str] = set()

    def tamper(self, message: Message) -> ServiceAnswer:
        if message.is_update and b"NaN" in (message.body or b""):
            self._nulls.add(message.task)
            return self.send(replace(message, body=(message.body or b"").replace(b"NaN", b"0")))
        answer = self.send(message)
        if message.task not in self._nulls:
            return answer
        return with_series(answer, lambda _, points: [{**each, "value": None} for each in points])


@service.mutant("MW-M951d", killed_by="MW-951", witness=_TEXT)
class CoercesText(_OnRefusal):
    """takes text that reads as a number for the number"""

    def otherwise(self, message: Message, answer: ServiceAnswer) -> ServiceAnswer:  # noqa: ARG002 - as declared
        return self.send(replace(message, body=(message.body or b"").replace(b'"0.5"', b"0.5")))


@service.mutant("MW-M951e", killed_by="MW-951", witness=_UNKNOWN)
class IgnoresUnknownFields(Tampering):
    """leaves out fields that it does not know and takes the rest"""

    def tamper(self, message: Message) -> ServiceAnswer:
        if message.is_update and "state" in message.json:
            return self.send(message.with_json({key: value for key, value in message.json.items() if key != "state"}))
        return self.send(message)


@service.mutant("MW-M951f", killed_by="MW-951", witness=_TEXT)
class ChangesWhatItRefuses(_OnRefusal):
    """stores the status of an update that it refuses for its details"""

    def otherwise(self, message: Message, answer: ServiceAnswer) -> ServiceAnswer:
        self.write(message, {"status": "error"})
        return answer


@service.mutant("MW-M951g", killed_by="MW-951", witness=Kind("the body is cut"))
class RefusesInHtml(_OnRefusal):
    """refuses what cannot be parsed with a page of HTML"""

    def otherwise(self, message: Message, answer: ServiceAnswer) -> ServiceAnswer:  # noqa: ARG002 - as declared
        return Forged(answer.status, b"<h1>Bad Request: body</h1>", HTML)


@service.mutant("MW-M952b", killed_by="MW-952", witness=Kind("one of two points is bad"))
class StoresTheGoodHalf(_OnRefusal):
    """stores the points of an append until the one that is bad"""

    def otherwise(self, message: Message, answer: ServiceAnswer) -> ServiceAnswer:
        self.append(message, {name: points[:1] for name, points in message.series.items()})
        return answer


@service.mutant("MW-M953a", killed_by="MW-953", witness=Kind("tasks: NUL"))
class TakesAnyId(Tampering):
    """cuts an id at what it cannot store and takes the rest"""

    def tamper(self, message: Message) -> ServiceAnswer:
        return self.send(replace(message, path=message.path.replace("%00", "")))


@service.mutant("MW-M953b", killed_by="MW-953", witness=Kind("jobs: not UTF-8"))
class FailsOnBadIds(Tampering):
    """answers an id that is no text with 500"""

    def tamper(self, message: Message) -> ServiceAnswer:
        return FAILED if "%FF" in message.path else self.send(message)


@service.mutant("MW-M954a", killed_by="MW-954", witness=Kind("in chunks"))
class LooksAtTheStatedLength(Tampering):
    """takes a body of any size that comes in chunks"""

    def tamper(self, message: Message) -> ServiceAnswer:
        if message.is_chunked:
            return self.send(replace(message, body=(message.body or b"").strip(), is_chunked=False))
        return self.send(message)


@service.control("MW-C954a", tolerated_by="MW-954", witness=Kind("in chunks"))
class AsksForTheLength(Tampering):
    """asks for the length of a body that comes in chunks"""

    def tamper(self, message: Message) -> ServiceAnswer:
        return Forged(411, b'{"message": "content-length: is missing"}') if message.is_chunked else self.send(message)


@service.mutant("MW-M954b", killed_by="MW-954")
class TakesMoreThanItDeclares(Tampering):
    """takes a body of any size"""

    def tamper(self, message: Message) -> ServiceAnswer:
        return self.send(replace(message, body=message.body.strip()) if message.body else message)


@service.mutant("MW-M954c", killed_by="MW-954", witness=Kind("the limit"))
class TakesLessThanItDeclares(Tampering):
    """refuses a body of exactly the size that it declares"""

    def tamper(self, message: Message) -> ServiceAnswer:
        if len(message.body or b"") >= self.max_body:
            return Forged(413, b'{"message": "body: too large"}')
        return self.send(message)


@service.mutant("MW-M954d", killed_by="MW-954", witness=Kind("many times more"))
class FailsOnLargeBodies(Tampering):
    """answers a body that is too large with 500"""

    def tamper(self, message: Message) -> ServiceAnswer:
        return FAILED if len(message.body or b"") > self.max_body else self.send(message)


@service.mutant("MW-M955a", killed_by="MW-955")
class DeletesTasks(Tampering):
    """lets anyone delete a task"""

    def tamper(self, message: Message) -> ServiceAnswer:
        return Forged(204, b"") if message.method == "DELETE" else self.send(message)


@service.mutant("MW-M955b", killed_by="MW-955", witness=Kind("PUT /x"))
class AnswersUnknownRoutesInHtml(Tampering):
    """answers a route that does not exist with a page of HTML"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        return Forged(answer.status, b"<h1>Not Found</h1>", HTML) if message.path.endswith("/x") else answer


@service.mutant("MW-M956a", killed_by="MW-956")
class DropsNul(Tampering):
    """leaves NUL out of text, since the database cannot store it"""

    def tamper(self, message: Message) -> ServiceAnswer:
        return self.send(
            replace(message, body=(message.body or b"").replace(rb"\u0000", b"")) if message.body else message
        )


@service.mutant("MW-M956b", killed_by="MW-956", witness=Kind(r"\ud800"))
class FailsOnSurrogates(Tampering):
    """answers text with half of a surrogate pair with 500"""

    def tamper(self, message: Message) -> ServiceAnswer:
        return FAILED if rb"\ud800" in (message.body or b"") else self.send(message)


@service.mutant("MW-M956c", killed_by="MW-956", witness=Kind(r"\ud83d\ude00"))
class KeepsTheBasicPlaneOnly(Tampering):
    """keeps a question mark for what is beyond the basic plane"""

    def tamper(self, message: Message) -> ServiceAnswer:
        if not message.is_update:
            return self.send(message)
        text = json.dumps(object_in(message.body), ensure_ascii=False)
        kept = "".join(letter if ord(letter) < 1 << 16 else "?" for letter in text)
        return self.send(replace(message, body=kept.encode(errors="surrogatepass")))
