"""Makes any OpenAI-compatible ASGI application answer overflows as Gym's classifier needs them, and nothing else so.

A real vLLM server takes it as it is::

    vllm serve MODEL --middleware impl.gym_overflow.middleware.OverflowMiddleware

Answers below status 400 pass through untouched, piece by piece. An overflow that a server answers with a 200 (an
error event inside a stream, an error text as a completion) cannot be seen here and is out of scope.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from impl.gym_overflow.asgi_exchange import (
    ASGIApp,
    ErrorHolder,
    HeldAnswer,
    HeldRequest,
    Receive,
    Scope,
    Send,
    hold_request,
)
from impl.gym_overflow.judge import Evidence, Verdict, judge
from impl.gym_overflow.overflow import OVERFLOW_STATUS, context_length_overflow_message, overflow_error
from impl.gym_overflow.prompts import OUTPUT_CAPS, is_inference_route
from impl.gym_overflow.recognise import recognise
from impl.gym_overflow.rephrase import as_error_object, rephrase
from impl.gym_overflow.token_count import TokenCounter, TokenizeRoute, after_truncation

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes of a request body that are held in memory; the prompt of a larger request is not counted."""

_MAY_BE_OVERFLOW = frozenset({400, 413, 422, 500})


class OverflowMiddleware:
    """ASGI middleware that keeps overflows and all other errors apart for Gym's classifier.

    An error that is an overflow leaves as 400 with the reference's words and the true numbers; any other error keeps
    its status and loses the classifier's trigger words; a framework's own error becomes an error object. Where the
    server refuses only the requested output, the request is repeated once with what fits. An exception that the
    application lets escape is judged likewise, and raised again unless it is an overflow.
    """

    def __init__(self, app: ASGIApp, count_tokens: TokenCounter | None = None) -> None:
        """Wrap an application.

        Args:
            app: The application to wrap.
            count_tokens: Counts a request's final prompt; without it the application's own `/tokenize` route does.
        """
        self._app = app
        self._count_tokens = TokenizeRoute(app) if count_tokens is None else count_tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "http":
            await self.serve(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> Evidence:
        """Serve one HTTP request and tell what decided about its answer.

        Returns:
            The evidence of the verdict; `Evidence.STATUS` where none was needed.
        """
        if scope["method"] == "POST" and is_inference_route(scope["path"]):
            request = await hold_request(scope, receive, LARGEST_BODY)
        else:
            request = HeldRequest(dict(scope), receive)
        answer = await self._ask(request, send)
        if answer is None:
            return Evidence.STATUS
        verdict, smaller = await self._judge(request, answer)
        if smaller is not None:
            second = await self._ask(smaller, send)
            if second is None:
                return verdict.decided_by
            if second.status not in _MAY_BE_OVERFLOW:  # the server fell over meanwhile: that is the news
                answer, verdict = second, Verdict(overflow=False, decided_by=Evidence.STATUS)
        if verdict.overflow:
            await _overflow_answer(request, answer, verdict).send(send)
        elif answer.escaped is not None:
            raise answer.escaped
        else:
            body = as_error_object(answer.body, answer.status) if request.complete else answer.body
            await answer.with_body(rephrase(body)).send(send)
        return verdict.decided_by

    async def _ask(self, request: HeldRequest, send: Send) -> HeldAnswer | None:
        """Give a request to the application; its error, or None if its answer has gone through."""
        holder = ErrorHolder(send)
        try:
            await request.call(self._app, holder)
        except Exception as error:
            if holder.passed:
                raise
            return HeldAnswer.of_escaped(error)
        return None if holder.answer is None else holder.answer.decoded()

    async def _judge(self, request: HeldRequest, answer: HeldAnswer) -> tuple[Verdict, HeldRequest | None]:
        """Judge an error; with it the request to try once more, where less output would fit."""
        if answer.status not in _MAY_BE_OVERFLOW or request.scope["method"] != "POST":
            return Verdict(overflow=False, decided_by=Evidence.STATUS), None
        finding = recognise(answer.body, sent=request.body)
        document = request.json() if request.complete else None
        count = await self._count_tokens(request) if request.complete else None
        if count is not None and document is not None:
            count = after_truncation(count, document)
        verdict = judge(finding, request.path, document, count)
        if verdict.room is None or document is None:
            return verdict, None
        smaller = _with_smaller_output(document, verdict.room)
        return verdict, None if smaller is None else request.with_json(smaller)


def _with_smaller_output(document: Mapping[str, Any], room: int) -> dict[str, Any] | None:
    """Give the request with an output cap that fits; None where the client also insists on more than that."""
    least = document.get("min_tokens")
    if isinstance(least, int) and least > room:
        return None
    caps = [name for name in OUTPUT_CAPS if isinstance(document.get(name), int)] or ["max_tokens"]
    return {**document, **{name: min(int(document.get(name, room)), room) for name in caps}}


def _overflow_answer(request: HeldRequest, answer: HeldAnswer, verdict: Verdict) -> HeldAnswer:
    message = context_length_overflow_message(verdict.prompt_tokens, verdict.window, at_least=verdict.at_least)
    error = overflow_error(message, param=_prompt_field(request.path))
    if request.path.rstrip("/").endswith("/messages"):  # Anthropic's envelope
        error = {"type": "error", **error}
    return answer.with_body(json.dumps(error).encode(), status=OVERFLOW_STATUS, media_type=b"application/json")


def _prompt_field(path: str) -> str | None:
    endings = (("/chat/completions", "messages"), ("/completions", "prompt"), ("/responses", "input"))
    return next((field for ending, field in endings if path.rstrip("/").endswith(ending)), None)
