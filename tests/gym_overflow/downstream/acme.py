"""A downstream's own chat server: a word is a token, and the template adds two tokens around every message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

_NUMBER = (int, float)
_FIELDS: dict[str, tuple[type, ...]] = {
    "model": (str,),
    "messages": (list,),
    "max_tokens": (int,),
    "min_tokens": (int,),
    "temperature": _NUMBER,
    "top_p": _NUMBER,
    "stream": (bool,),
    "stop": (str, list),
}
_SPOKEN = 5


def build_app(
    *, max_model_len: int = 32, overflow_status: int = 400, term: str = "maximum context length"
) -> Starlette:
    async def chat(request: Request) -> Response:
        try:
            body = json.loads(await request.body())
            _validate(body)
        except ValueError:
            return _error(400, "The request is not valid.", "invalid_request")
        if body["model"] != "acme":
            return _error(404, "There is no such model.", "model_not_found")
        prompt = sum(2 + len(message["content"].split()) for message in body["messages"])
        if prompt >= max_model_len:
            text = f"The {term} is {max_model_len} tokens, and the prompt has {prompt}."
            return _error(overflow_status, text, "context_length_exceeded")
        return _completion(body, prompt, max_model_len - prompt)

    async def models(_request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": "acme", "max_model_len": max_model_len}]})

    return Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"]), Route("/v1/models", models)])


def _completion(body: dict[str, Any], prompt: int, room: int) -> Response:
    most = min(body.get("max_tokens", room), room)
    count, reason = (_SPOKEN, "stop") if most > _SPOKEN else (most, "length")
    text = " ".join(["word"] * count)
    if body.get("stream"):
        chunk = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}]}

        async def events() -> AsyncIterator[str]:
            yield f"data: {json.dumps(chunk)}\n\n"
            yield "data: [DONE]\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": prompt, "completion_tokens": count, "total_tokens": prompt + count}
    return JSONResponse({"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage})


def _validate(body: Any) -> None:
    if not (isinstance(body, dict) and {"model", "messages"} <= body.keys() <= _FIELDS.keys()):
        raise ValueError
    typed = all(type(value) in _FIELDS[name] for name, value in body.items())
    if not (typed and body["messages"] and all(map(_is_message, body["messages"]))):
        raise ValueError
    in_range = 0 < body.get("top_p", 1) <= 1 and 0 <= body.get("temperature", 1) <= 2
    if not in_range or not body.get("min_tokens", 0) <= body.get("max_tokens", 10**9):
        raise ValueError
    if body.get("max_tokens", 1) < 1:
        raise ValueError


def _is_message(message: Any) -> bool:
    known = isinstance(message, dict) and message.get("role") in {"system", "user", "assistant"}
    return known and isinstance(message.get("content"), str)


def _error(status: int, message: str, code: str) -> Response:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return JSONResponse({"error": error}, status)
