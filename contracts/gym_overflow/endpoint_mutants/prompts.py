"""Defects of one form of a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.endpoint_mutants.forging import BARE
from contracts.gym_overflow.endpoint_mutants.overlong import told_from_plain
from contracts.gym_overflow.endpoint_mutants.tampering import TamperingWithRefusals
from contracts.gym_overflow.prompt_forms import Form, FormedPrompt
from contracts.gym_overflow.sides import endpoint

if TYPE_CHECKING:
    from contracts.answer import Answer


@endpoint.mutant("GO-M119a", killed_by="GO-119", witness=FormedPrompt(Form.IDS))
class LeavesTokenIdsUnguarded(TamperingWithRefusals):
    """answers a prompt of token ids over the window with a bare 500"""

    def refused(self, _path: str, body: dict[str, Any], answer: Answer) -> Answer:
        ids = isinstance(body.get("prompt"), list) and isinstance(body["prompt"][0], int)
        return told_from_plain(self.inner, BARE, answer) if ids else answer


@endpoint.mutant("GO-M119b", killed_by="GO-119", witness=FormedPrompt(Form.TEXTS))
class GuardsTheFirstPrompt(TamperingWithRefusals):
    """holds the first of several prompts against the window and forgets the others"""

    def refused(self, path: str, body: dict[str, Any], answer: Answer) -> Answer:
        prompts = body.get("prompt")
        if not (isinstance(prompts, list) and isinstance(prompts[0], str)):
            return answer
        alone: Answer = self.inner.request("POST", path, json={**body, "prompt": prompts[0]})
        return alone
