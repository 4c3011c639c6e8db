"""The rules: which kind of refusal an error answer is, from its codes, its own sentence and its numbers.

A rule never looks for words anywhere in a body. Validation errors quote requests, and requests quote anything: only
the error's own code and a sentence that begins as a refusal begins count, and only if the numbers in it are true.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum

from impl.gym_overflow.error_body import ErrorBody, read_error_body
from impl.gym_overflow.statements import (
    Statement,
    read_output_cap_statement,
    read_prompt_statement,
    read_room_left,
)


class Refusal(Enum):
    """What a server refuses, as far as its answer alone can tell."""

    PROMPT = "the prompt leaves no room in the window"
    SUM = "the prompt fits; prompt and requested output together do not"
    OUTPUT_CAP = "the requested output alone is larger than the window"
    NO_ROOM_OR_NO_OUTPUT = "no output token: the window is full, or the client asked for none"
    OTHER = "something else, or nothing that can be told"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one error answer states.

    Attributes:
        refusal: Its kind.
        statement: The numbers it gives.
        room: The output tokens left (or asked for), where `refusal` is NO_ROOM_OR_NO_OUTPUT.
        message: The server's own sentence.
    """

    refusal: Refusal
    statement: Statement
    message: str
    room: int | None = None

    @classmethod
    def nothing(cls, message: str) -> Finding:
        """A finding for an answer whose words prove nothing."""
        return cls(Refusal.OTHER, Statement(), message)


_OVERFLOW_CODES = re.compile(
    r"context_(?:length|window|size)_exceeded|(?:exceeds?|exceeded)_context_(?:length|window|size)(?:_error)?|"
    r"(?:model_)?max_prompt_tokens_exceeded|(?:prompt|input)_too_long|MaxSequenceLengthOverflowError|"
    r"ContextWindowExceededError",
    re.IGNORECASE,
)
_WRAPPED_ERROR_NAME = re.compile(
    r"Inference request\(s\) failed: Request \d+: \{'type': 'MaxSequenceLengthOverflowError'"
)


def recognise(body: bytes, sent: bytes = b"") -> Finding:
    """Say what kind of refusal an error answer is.

    Args:
        body: The answer's body.
        sent: The request's body: a sentence that the client itself wrote proves nothing when it comes back.
    """
    finding = _recognise(read_error_body(body))
    text = finding.statement.text
    return Finding.nothing(finding.message) if text and _holds(sent, text) else finding


def states_overflow(message: str) -> bool:
    """Say whether a sentence states, with true numbers, that a request does not fit into the window."""
    return _recognise(ErrorBody(message=message)).refusal in {Refusal.PROMPT, Refusal.SUM}


def _recognise(error: ErrorBody) -> Finding:
    if error.prompt_tokens is not None and error.window is not None:
        numbers = Statement(prompt=error.prompt_tokens, window=error.window)
        if numbers.prompt_fills_window:
            return Finding(Refusal.PROMPT, numbers, error.message)
    statement = read_prompt_statement(error.message)
    if statement is not None and (refusal := _refusal(statement)) is not Refusal.OTHER:
        return Finding(refusal, statement, error.message)
    if any(_OVERFLOW_CODES.fullmatch(code) for code in error.codes) or _WRAPPED_ERROR_NAME.match(error.message):
        return Finding(Refusal.PROMPT, Statement(numberless=True), error.message)
    cap = read_output_cap_statement(error.message)
    if cap is not None:
        return Finding(Refusal.OUTPUT_CAP, cap, error.message)
    room = read_room_left(error.message)
    if room is not None:
        return Finding(Refusal.NO_ROOM_OR_NO_OUTPUT, Statement(), error.message, room=room)
    return Finding.nothing(error.message)


def _refusal(statement: Statement) -> Refusal:
    if statement.cap_exceeds_window and not statement.prompt_fills_window:
        return Refusal.OUTPUT_CAP
    if statement.prompt_fills_window:
        return Refusal.PROMPT
    return Refusal.SUM if statement.sum_exceeds_window else Refusal.OTHER


def _holds(sent: bytes, text: str) -> bool:
    forms = (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], text)
    return any(form.encode(errors="replace") in sent for form in forms)
