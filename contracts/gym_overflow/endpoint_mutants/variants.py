"""Defects of one path, while the plain chat path is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.endpoint_mutants.forging import BARE, OK, REFUSED, Forged, edited, error, with_words
from contracts.gym_overflow.endpoint_mutants.overlong import told_from_plain
from contracts.gym_overflow.endpoint_mutants.tampering import Tampering, TamperingWithRefusals
from contracts.gym_overflow.probe import Route
from contracts.gym_overflow.protocols import EndpointWrapper
from contracts.gym_overflow.refusal import MARKER
from contracts.gym_overflow.ruler import Ruler, window_of
from contracts.gym_overflow.sides import endpoint

if TYPE_CHECKING:
    from contracts.answer import Answer


@endpoint.mutant("GO-M110a", killed_by="GO-110")
class BlamesTheOtherField(TamperingWithRefusals):
    """refuses an overflow in words of max_completion_tokens where that was sent"""

    def refused(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        if "max_completion_tokens" in body:
            forged = error(answer.status, "max_completion_tokens is too large for this prompt.")
            return told_from_plain(self.inner, forged, answer)
        return answer


@endpoint.mutant("GO-M111a", killed_by="GO-111")
class StreamsFirst(TamperingWithRefusals):
    """answers a stream with 200 and puts the refusal into its first event"""

    def refused(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        if not body.get("stream"):
            return answer
        return Forged(OK, b"data: " + answer.body + b"\n\n", {"content-type": "text/event-stream"})


@endpoint.mutant("GO-M112a", killed_by="GO-112")
class FailsGroups(TamperingWithRefusals):
    """answers an overflow with a bare 500 when several completions are asked for"""

    def refused(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        return told_from_plain(self.inner, BARE, answer) if body.get("n", 1) > 1 else answer


@endpoint.mutant("GO-M112b", killed_by="GO-112")
class CompletesOnce(Tampering):
    """returns one completion where several were asked for"""

    def tampered(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        def edit(document: dict[str, Any]) -> None:
            del document["choices"][1:]

        return answer if body.get("n", 1) == 1 else edited(answer, edit)


@endpoint.mutant("GO-M113a", killed_by="GO-113")
class FailsLogprobs(TamperingWithRefusals):
    """answers an overflow with a bare 500 when logprobs are asked for"""

    def refused(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        return told_from_plain(self.inner, BARE, answer) if body.get("logprobs") else answer


@endpoint.mutant("GO-M113b", killed_by="GO-113")
class ForgetsTheLogprobs(Tampering):
    """returns no logprobs"""

    def tampered(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        def edit(document: dict[str, Any]) -> None:
            for choice in document["choices"]:
                choice["logprobs"] = None

        return edited(answer, edit) if body.get("logprobs") else answer


@endpoint.mutant("GO-M114a", killed_by="GO-114")
class ForgetsTheTools(EndpointWrapper):
    """builds the prompt without the tools"""

    def request(self, method: str, path: str, **sent: Any) -> Answer:
        if isinstance(body := sent.get("json"), dict):
            sent["json"] = {key: value for key, value in body.items() if key != "tools"}
        return super().request(method, path, **sent)


@endpoint.mutant("GO-M114b", killed_by="GO-114")
class RefusesToolsTooEarly(Tampering):
    """refuses the last prompt that fits when it carries tools"""

    def tampered(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        fits = "tools" in body and answer.status == OK
        if fits and Ruler.of(self).count(path, body) == window_of(self) - 1:
            return REFUSED
        return answer


@endpoint.mutant("GO-M115a", killed_by="GO-115")
class RewordsCompletions(TamperingWithRefusals):
    """refuses an overflow on /v1/completions in words of its own"""

    def refused(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        if path == Route.COMPLETIONS:
            return told_from_plain(self.inner, error(answer.status, "The prompt is too long."), answer)
        return answer


@endpoint.mutant("GO-M116a", killed_by="GO-116")
class RewordsResponses(TamperingWithRefusals):
    """refuses an overflow on /v1/responses with max_model_len words"""

    def refused(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        if path == Route.RESPONSES:
            return told_from_plain(self.inner, with_words(answer, MARKER, "max_model_len"), answer)
        return answer


@endpoint.mutant("GO-M117a", killed_by="GO-117")
class LeavesTheSpliceUnguarded(TamperingWithRefusals):
    """answers a spliced history over the window with a bare 500"""

    def refused(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        spliced = any("generation_token_ids" in message for message in body.get("messages", ()))
        return told_from_plain(self.inner, BARE, answer) if spliced else answer


@endpoint.mutant("GO-M118a", killed_by="GO-118")
class TokenizesAnotherPrompt(Tampering):
    """counts a prompt in /tokenize that is three tokens shorter than the final one"""

    def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        def edit(document: dict[str, Any]) -> None:
            document["count"] -= 3

        if path != "/tokenize":
            return answer
        if answer.status == OK:
            return edited(answer, edit)
        return told_from_plain(self.inner, error(answer.status, "The prompt is too long."), answer)
