"""Defects at the window itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.endpoint_mutants.forging import OK, REFUSED, Forged, error, with_status, with_words
from contracts.gym_overflow.endpoint_mutants.tampering import Tampering, TamperingWithRefusals
from contracts.gym_overflow.judging import triggers
from contracts.gym_overflow.probe import LIMIT_FIELD, Route, body_of
from contracts.gym_overflow.refusal import MARKER
from contracts.gym_overflow.ruler import Ruler, window_of
from contracts.gym_overflow.sides import endpoint
from contracts.gym_overflow.window_probes import FULL, ONE_OVER

if TYPE_CHECKING:
    from contracts.answer import Answer

_STATUSES = {"a": 500, "b": 422, "c": 413, "d": 429}


def _refused_with(status: int) -> type[Tampering]:
    class RefusedWith(TamperingWithRefusals):
        def refused(self, _path: str, _body: dict[str, Any], answer: Answer) -> Answer:
            return with_status(answer, status)

    RefusedWith.__doc__ = f"refuses an overflow with status {status}"
    return RefusedWith


for _letter, _status in _STATUSES.items():
    endpoint.mutant(f"GO-M101{_letter}", killed_by="GO-101")(_refused_with(_status))


@endpoint.mutant("GO-M101e", killed_by="GO-101", witness=FULL)
class ServesTheFullWindow(TamperingWithRefusals):
    """answers 200 to a prompt that fills the window exactly"""

    def refused(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        if Ruler.of(self).count(path, body) in {None, window_of(self)}:
            return Forged(OK, b'{"choices": [], "usage": {}}')
        return answer


@endpoint.mutant("GO-M102a", killed_by="GO-102")
class SaysMaxModelLen(TamperingWithRefusals):
    """says max_model_len where clients look for the maximum context length"""

    def refused(self, _path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        return with_words(answer, MARKER, "max_model_len")


@endpoint.mutant("GO-M102b", killed_by="GO-102")
class LeavesOutTheNumbers(TamperingWithRefusals):
    """states neither the prompt's tokens nor the window"""

    def refused(self, _path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        return error(answer.status, "The maximum context length is exceeded.", "context_length_exceeded")


@endpoint.mutant("GO-M102c", killed_by="GO-102", witness=ONE_OVER)
class CountsBeforeTheTemplate(TamperingWithRefusals):
    """states a prompt three tokens shorter than the final one"""

    def refused(self, _path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        window = window_of(self)
        text = f"This model's maximum context length is {window} tokens, the prompt has {window - 3}."
        return error(answer.status, text, "context_length_exceeded")


@endpoint.mutant("GO-M102d", killed_by="GO-102")
class AnswersInPlainText(TamperingWithRefusals):
    """refuses an overflow in plain text"""

    def refused(self, _path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        return Forged(
            answer.status, json.loads(answer.body)["error"]["message"].encode(), {"content-type": "text/plain"}
        )


@endpoint.mutant("GO-M102e", killed_by="GO-102")
class GivesAnotherCode(TamperingWithRefusals):
    """gives the refusal the code of another error"""

    def refused(self, _path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        return error(answer.status, json.loads(answer.body)["error"]["message"], "invalid_value")


@endpoint.mutant("GO-M103a", killed_by="GO-103")
class DropsTheWords(TamperingWithRefusals):
    """refuses an overflow in words that no classifier looks for"""

    def refused(self, _path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        for trigger in triggers():
            answer = with_words(answer, trigger, "window")
        return answer


@endpoint.mutant("GO-M103b", killed_by="GO-103")
class ShoutsTheWords(TamperingWithRefusals):
    """writes the words that a classifier looks for in capitals"""

    def refused(self, _path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        for trigger in triggers():
            answer = with_words(answer, trigger, trigger.upper())
        return answer


@endpoint.mutant("GO-M104a", killed_by="GO-104")
class RefusesOneTooEarly(Tampering):
    """refuses a prompt that leaves room for one token"""

    def tampered(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        if path == Route.CHAT and answer.status == OK and Ruler.of(self).count(path, body) == window_of(self) - 1:
            return REFUSED
        return answer


@endpoint.mutant("GO-M105a", killed_by="GO-105", witness=FULL)
class ConfusesFullWithZero(Tampering):
    """answers a full window like the client bug max_tokens=0"""

    def tampered(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        # Known by the request, since neither words nor numbers of a refusal are this check's business.
        full = {name: value for name, value in body.items() if name != LIMIT_FIELD[Route.CHAT]} == body_of(self, FULL)
        return error(answer.status, "max_tokens must be at least 1, got 0.") if full else answer
