"""Recorded answers of real servers through the middleware, and what such answers become when their numbers change."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from impl.gym_overflow.replay import through_reference

if TYPE_CHECKING:
    from pathlib import Path


def classified(answer: dict[str, Any]) -> bool:
    return answer["status"] == 400 and any(word in answer["body"] for word in ("context length", "max_tokens"))


def row(status: int, message: str, request: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    body = json.dumps({"error": {"message": message, "type": "BadRequestError", "code": status}})
    recorded = {"endpoint": "/v1/chat/completions", "status": status, "body": body}
    return {**recorded, "request": None if request is None else json.dumps(request), **fields}


def chat(count: int, **fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": " ".join(["t4"] * count)}], **fields}


ZERO = "max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)"
OVER = "This model's maximum context length is 64 tokens. However, your prompt contains at least 65 input tokens."


@pytest.mark.parametrize(
    ("recorded", "overflow", "decided_by"),
    [
        (row(400, ZERO, chat(64, max_tokens=1)), True, "token count"),
        (row(400, ZERO, chat(4, max_tokens=0)), False, "token count"),
        (row(400, OVER, chat(80)), True, "token count"),
        (row(400, OVER), True, "answer"),
        (row(400, ZERO), False, "answer"),
        (row(404, "no model max_tokens", chat(80)), False, "passed through"),
        (row(500, "", chat(64)), True, "token count"),
        (row(500, "", chat(63)), False, "token count"),
        (row(400, ZERO, chat(100, max_tokens=0), note="max_model_len 128"), False, "token count"),
    ],
    ids=lambda value: value["body"][23:40] + str(len(value["request"] or "")) if isinstance(value, dict) else None,
)
def test_a_row_says_what_a_client_would_have_got(recorded: dict[str, Any], overflow: bool, decided_by: str) -> None:  # noqa: FBT001 - a column of the table
    (answer,) = through_reference([recorded])
    assert classified(answer) is overflow
    assert answer["decided_by"] == decided_by
    if overflow:
        assert "maximum context length" in answer["body"]


def test_the_numbers_of_a_counted_overflow_are_the_true_ones() -> None:
    (answer,) = through_reference([row(400, OVER, chat(80))])
    message = json.loads(answer["body"])["error"]["message"]
    assert "contains 80 tokens" in message
    assert "at least" not in message


def test_a_cut_spliced_request_is_decided_by_the_length_noted_for_it() -> None:
    note = "gym-shaped history: true prompt=64 (prefix 60+tail 4), template prompt=13"
    recorded = {**row(500, ""), "body": "Internal Server Error", "request": '{"messages": [...(808 bytes)'}
    full, room = through_reference([{**recorded, "note": note}, {**recorded, "note": note.replace("=64", "=63")}])
    assert classified(full)
    assert room["status"] == 500


@pytest.fixture(scope="module")
def rows(corpus: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in corpus.read_text("utf-8").splitlines()]


def test_answers_alone_without_their_requests_raise_no_false_alarm(rows: list[dict[str, Any]]) -> None:
    others = [{**one, "request": None} for one in rows if one["kind"] == "not_overflow"]
    assert [one["body"] for one, got in zip(others, through_reference(others), strict=True) if classified(got)] == []


def test_public_reports_are_recognised_but_for_a_few_wordings(rows: list[dict[str, Any]]) -> None:
    reports = [one for one in rows if one["kind"] == "overflow" and one["source"] != "measured"]
    errors = [one for one in reports if one["status"] >= 400]
    found = sum(classified(answer) for answer in through_reference(errors))
    assert found >= 0.9 * len(errors)


def test_recognition_does_not_hang_on_the_recorded_numbers(rows: list[dict[str, Any]]) -> None:
    """The same answers of servers with another window and other lengths: every number times a thousand."""
    scaled = []
    for one in rows:
        if one["kind"] == "overflow" and one["source"] == "measured" and one["body"].startswith("{"):
            body = json.loads(one["body"])
            if not body["error"]["message"].startswith("max_tokens must be"):  # that one only a count decides
                body["error"]["message"] = re.sub(r"\d+", r"\g<0>000", body["error"]["message"])
                scaled.append({**one, "body": json.dumps(body), "request": None})
    missed = [one["body"] for one, got in zip(scaled, through_reference(scaled), strict=True) if not classified(got)]
    assert len(scaled) > 200
    assert missed == []
