"""Puts the middleware in front of recorded answers: what a client would have got, had it been there.

`contracts gym replay CORPUS --through reference` calls `through_reference` by name. A row is a mapping with
`status` and `body` (the recorded answer), `endpoint` (the path) and, where known, `request` (its JSON text). The
recorded servers served a tokenizer of one word, one token behind a template that adds nothing, in a window of 64
tokens; that tokenizer is the one the middleware counts with.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from impl.gym_overflow.middleware import OverflowMiddleware
from impl.gym_overflow.prompts import ChatPrompt, TextPrompt
from impl.gym_overflow.token_count import PromptCount, TokenCounter, count_longest_prompt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from impl.gym_overflow.asgi_exchange import ASGIApp, HeldRequest, Message, Receive, Scope, Send

RECORDED_WINDOW = 64
"""Window, in tokens, of the servers whose answers were recorded."""

_NOTED_WINDOW = re.compile(r"max_model_len (\d+)")
_NOTED_PROMPT = re.compile(r"true prompt=(\d+)")


def through_reference(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Send each recorded answer through the middleware.

    Yields:
        For each row, in order: `status` and `body` (text) as a client gets them, and `decided_by`: "token count",
        "request" or "answer" (the evidence of the middleware's verdict), or "passed through" where the status is
        none that can be an overflow.
    """
    with asyncio.Runner() as runner:
        for row in rows:
            yield runner.run(_through(row))


async def _through(row: Mapping[str, Any]) -> dict[str, Any]:
    middleware = OverflowMiddleware(_recorded_answer(row), count_tokens=_recorded_tokenizer(row))
    status = 0
    body = bytearray()
    pending: list[Message] = [{"type": "http.request", "body": (row.get("request") or "").encode()}]

    async def receive() -> Message:
        return pending.pop(0) if pending else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)
        body.extend(message.get("body", b""))

    decided_by = await middleware.serve(_scope(row), receive, send)
    return {"status": status, "body": body.decode(errors="surrogateescape"), "decided_by": decided_by.value}


def _scope(row: Mapping[str, Any]) -> Scope:
    path = str(row["endpoint"])
    path = path if path.startswith("/") else f"/{path}"
    return {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"content-type", b"application/json")],
    }


def _recorded_answer(row: Mapping[str, Any]) -> ASGIApp:
    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": row["status"], "headers": headers})
        await send({"type": "http.response.body", "body": row["body"].encode(errors="surrogateescape")})

    return app


def _recorded_tokenizer(row: Mapping[str, Any]) -> TokenCounter:
    note = str(row.get("note", ""))
    noted_window = _NOTED_WINDOW.search(note)
    window = int(noted_window[1]) if noted_window else RECORDED_WINDOW

    async def count(request: HeldRequest) -> PromptCount | None:
        document = request.json()
        if document is None:
            # The corpus cuts long requests; for some it notes the prompt length that was measured.
            noted = _NOTED_PROMPT.search(note)
            return PromptCount(int(noted[1]), window) if noted else None
        tokens = await count_longest_prompt(request.path, document, _count_words)
        return None if tokens is None else PromptCount(tokens, window)

    return count


async def _count_words(prompt: TextPrompt | ChatPrompt) -> int:
    if isinstance(prompt, TextPrompt):
        return len(prompt.text.split())
    return sum(_words(message.get("content")) for message in prompt.messages)


def _words(content: object) -> int:
    if isinstance(content, str):
        return len(content.split())
    parts = content if isinstance(content, list) else []
    return sum(
        len(part["text"].split()) for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)
    )
