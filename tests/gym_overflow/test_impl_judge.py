"""What one error answer is, where the server's words, the request and a count do not agree."""

from __future__ import annotations

import json
from typing import Any

import pytest

from impl.gym_overflow.judge import Verdict, judge
from impl.gym_overflow.recognise import recognise
from impl.gym_overflow.token_count import PromptCount

WINDOW = 16
CHAT = "/v1/chat/completions"


def judged(room: int, request: dict[str, Any], counted: int) -> Verdict:
    message = f"max_tokens must be at least 1, got {room}. (parameter=max_tokens, value={room})"
    finding = recognise(json.dumps({"error": {"message": message}}).encode())
    return judge(finding, CHAT, request, PromptCount(counted, WINDOW))


@pytest.mark.parametrize("room", [0, -5])
@pytest.mark.parametrize("request_body", [{}, {"max_tokens": 1}], ids=["no limit", "a limit"])
def test_a_room_that_the_server_computed_itself_outweighs_the_count(room: int, request_body: dict[str, Any]) -> None:
    """Behind a spliced turn a template may put more than a count of the parts shows."""
    verdict = judged(room, request_body, counted=WINDOW - 1)
    assert (verdict.overflow, verdict.prompt_tokens, verdict.window) == (True, WINDOW - room, WINDOW)


@pytest.mark.parametrize("asked", [0, "0", -5], ids=repr)
def test_a_number_that_the_client_asked_for_is_decided_by_the_count(asked: int | str) -> None:
    request = {"max_tokens": asked}
    assert not judged(int(asked), request, counted=WINDOW - 1).overflow
    assert judged(int(asked), request, counted=WINDOW).overflow
