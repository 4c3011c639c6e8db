"""Capabilities that are there and were not declared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.endpoint_mutants.forging import OK, Forged, edited
from contracts.gym_overflow.endpoint_mutants.tampering import Tampering
from contracts.gym_overflow.sides import endpoint

if TYPE_CHECKING:
    from contracts.answer import Answer


@endpoint.mutant("GO-M401a", killed_by="GO-401", witness="tokenize")
class ServesWhatItDoesNotDeclare(Tampering):
    """serves /tokenize without declaring it"""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.capabilities = frozenset(inner.capabilities) - {"tokenize"}

    def tampered(self, path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        return Forged(OK, b'{"count": 1}') if path == "/tokenize" else answer


@endpoint.mutant("GO-M401b", killed_by="GO-401", witness="splice")
class SplicesUndeclared(Tampering):
    """builds the prompt from the token ids in a history without declaring it"""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.capabilities = frozenset(inner.capabilities) - {"splice"}

    def tampered(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        if "generation_token_ids" not in json.dumps(body):
            return answer
        # Asked without the ids, since an endpoint may refuse them.
        messages = [{name: message[name] for name in ("role", "content")} for message in body["messages"]]
        plain: Answer = self.inner.request("POST", path, json={**body, "messages": messages})

        def edit(document: dict[str, Any]) -> None:
            usage = document.setdefault("usage", {})
            usage["prompt_tokens"] = usage.get("prompt_tokens", 0) + 5

        return edited(plain, edit)
