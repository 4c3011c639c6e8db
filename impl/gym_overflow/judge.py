"""Decides about one error answer: an overflow or not, with which numbers, and whether a smaller output cap would do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from impl.gym_overflow.overflow import leaves_no_room
from impl.gym_overflow.prompts import asks_for, requested_output
from impl.gym_overflow.recognise import Finding, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from impl.gym_overflow.token_count import PromptCount


class Evidence(StrEnum):
    """What a verdict rests on."""

    ANSWER = "answer"
    COUNT = "token count"
    REQUEST = "request"
    STATUS = "passed through"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one error answer is.

    Attributes:
        overflow: The request does not fit into the window.
        decided_by: The evidence: what the server says, a count of the prompt's tokens, what the client asked for, or
            (no verdict was needed) the answer's status.
        prompt_tokens: True length of the final prompt, if known.
        window: The window in tokens, if known.
        at_least: The server stopped counting at `prompt_tokens`.
        room: Output tokens that a prompt that fits leaves; set where the refusal is only about the output.
    """

    overflow: bool
    decided_by: Evidence
    prompt_tokens: int | None = None
    window: int | None = None
    at_least: bool = False
    room: int | None = None


def judge(finding: Finding, path: str, request: Mapping[str, Any] | None, count: PromptCount | None) -> Verdict:
    """Judge an error answer to a request.

    Args:
        finding: What the answer states.
        path: The path asked for.
        request: The request's JSON object, if it was held and is one.
        count: The tokens of its final prompt, if they could be counted. They outweigh the answer's words, but for a
            number that the server can only have computed from the final prompt itself.
    """
    if count is None:
        return _by_answer(finding, request)
    if request is not None and finding.room is not None and _computed_room(finding.room, request):
        computed = count.window - finding.room
        evidence = Evidence.COUNT if computed == count.prompt_tokens else Evidence.REQUEST
        return Verdict(overflow=True, decided_by=evidence, prompt_tokens=computed, window=count.window)
    if leaves_no_room(count.prompt_tokens, count.window):
        return Verdict(overflow=True, decided_by=Evidence.COUNT, prompt_tokens=count.prompt_tokens, window=count.window)
    cap = None if request is None else requested_output(path, request)
    return _prompt_fits(finding, cap, count)


def _by_answer(finding: Finding, request: Mapping[str, Any] | None) -> Verdict:
    if finding.refusal in {Refusal.PROMPT, Refusal.SUM}:
        return _as_stated(finding)
    if finding.refusal is Refusal.NO_ROOM_OR_NO_OUTPUT and request is not None and finding.room is not None:
        return Verdict(overflow=_computed_room(finding.room, request), decided_by=Evidence.REQUEST)
    return Verdict(overflow=False, decided_by=Evidence.ANSWER)


def _computed_room(room: int, request: Mapping[str, Any]) -> bool:
    """Say whether a number of output tokens, none or less, is the room that the server found left in the window.

    The server computed it itself if the client never asked for it, and from the prompt that it really built.
    """
    return room <= 0 and not asks_for(request, room)


def _as_stated(finding: Finding) -> Verdict:
    stated = finding.statement
    return Verdict(
        overflow=True,
        decided_by=Evidence.ANSWER,
        prompt_tokens=stated.prompt_tokens,
        window=stated.window_tokens,
        at_least=stated.at_least,
    )


def _prompt_fits(finding: Finding, cap: int | None, count: PromptCount) -> Verdict:
    room = count.window - count.prompt_tokens
    fits = Verdict(overflow=False, decided_by=Evidence.COUNT, prompt_tokens=count.prompt_tokens, window=count.window)
    if finding.refusal in {Refusal.OTHER, Refusal.NO_ROOM_OR_NO_OUTPUT}:
        return fits
    if cap is not None and cap > room:
        return replace(fits, overflow=cap <= count.window, room=room)
    if finding.refusal is Refusal.PROMPT and _server_counts_more(finding, count):
        return _as_stated(finding)
    return fits


def _server_counts_more(finding: Finding, count: PromptCount) -> bool:
    # Images and audio become tokens only inside the server: its own count of the final prompt stands.
    stated = finding.statement
    return stated.numberless or (
        not stated.characters and stated.prompt is not None and leaves_no_room(stated.prompt, count.window)
    )
