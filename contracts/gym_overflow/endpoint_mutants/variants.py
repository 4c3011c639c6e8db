"""Defects of one path, while the plain chat path is right."""

from __future__ import annotations

import json as json_codec
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.endpoint_mutants.forging import (
    JSON_TYPE,
    OK,
    Forged,
    Tampering,
    error,
    is_refusal,
    with_words,
)
from contracts.gym_overflow.probe import Route
from contracts.gym_overflow.protocols import EndpointWrapper
from contracts.gym_overflow.sides import endpoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.gym_overflow.protocols import Answer

_BARE = Forged(500, b"Internal Server Error", {"content-type": "text/plain"})


@endpoint.mutant("GO-M111a", killed_by="GO-111")
class StreamsFirst(Tampering):
    """answers a stream with 200 and puts the refusal into its first event"""

    def tampered(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        if not (body.get("stream") and is_refusal(answer)):
            return answer
        return Forged(OK, b"data: " + answer.body + b"\n\n", {"content-type": "text/event-stream"})


@endpoint.mutant("GO-M112a", killed_by="GO-112")
class FailsGroups(Tampering):
    """answers an overflow with a bare 500 when several completions are asked for"""

    def tampered(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        return _BARE if body.get("n", 1) > 1 and is_refusal(answer) else answer


@endpoint.mutant("GO-M113a", killed_by="GO-113")
class FailsLogprobs(Tampering):
    """answers an overflow with a bare 500 when logprobs are asked for"""

    def tampered(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        return _BARE if body.get("logprobs") and is_refusal(answer) else answer


@endpoint.mutant("GO-M114a", killed_by="GO-114")
class ForgetsTheTools(EndpointWrapper):
    """builds the prompt without the tools"""

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        if isinstance(json, dict):
            json = {key: value for key, value in json.items() if key != "tools"}
        return super().request(method, path, json=json, content=content, headers=headers)


@endpoint.mutant("GO-M115a", killed_by="GO-115")
class RewordsCompletions(Tampering):
    """refuses an overflow on /v1/completions in words of its own"""

    def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        if path == Route.COMPLETIONS and is_refusal(answer):
            return error(answer.status, "The prompt is too long.", "context_length_exceeded")
        return answer


@endpoint.mutant("GO-M116a", killed_by="GO-116")
class RewordsResponses(Tampering):
    """refuses an overflow on /v1/responses with max_model_len words"""

    def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        if path == Route.RESPONSES and is_refusal(answer):
            return with_words(answer, "maximum context length", "max_model_len")
        return answer


@endpoint.mutant("GO-M117a", killed_by="GO-117")
class LeavesTheSpliceUnguarded(Tampering):
    """answers a spliced history over the window with a bare 500"""

    def tampered(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        spliced = any("generation_token_ids" in message for message in body.get("messages", ()))
        return _BARE if spliced and is_refusal(answer) else answer


@endpoint.mutant("GO-M118a", killed_by="GO-118")
class TokenizesAnotherPrompt(Tampering):
    """counts a prompt in /tokenize that is three tokens shorter than the final one"""

    def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        if path != "/tokenize":
            return answer
        if answer.status == OK:
            document = json_codec.loads(answer.body)
            document["count"] -= 3
            return Forged(OK, json_codec.dumps(document).encode(), JSON_TYPE)
        return error(answer.status, "The prompt is too long.")
