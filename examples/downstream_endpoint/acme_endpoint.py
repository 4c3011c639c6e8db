"""A chat endpoint as plain ASGI: a word is a token, and the template adds two tokens around every message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]

MODEL, WINDOW, SENTENCE = "acme", 64, 5
FIELDS: dict[str, tuple[type, ...]] = {
    "model": (str,),
    "messages": (list,),
    "max_tokens": (int,),
    "temperature": (int, float),
    "stop": (str, list),
}


async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Answer ``/v1/models`` and ``/v1/chat/completions``."""
    if scope["type"] != "http":
        return
    match scope["method"], scope["path"]:
        case "GET", "/v1/models":
            status, answer = 200, {"object": "list", "data": [{"id": MODEL, "max_model_len": WINDOW}]}
        case "POST", "/v1/chat/completions":
            status, answer = chat(await body_of(receive))
        case _:
            status, answer = error(404, "There is no such route.", "not_found")
    content = json.dumps(answer).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def body_of(receive: Receive) -> bytes:
    """The whole body of a request."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return body


def chat(body: bytes) -> tuple[int, dict[str, Any]]:
    """Status and answer of a chat request."""
    try:
        request = json.loads(body)
    except ValueError:
        return error(400, "The request is not JSON.", "invalid_request")
    if not is_valid(request):
        return error(400, "The request is not valid.", "invalid_request")
    if request["model"] != MODEL:
        return error(404, "There is no such model.", "model_not_found")
    prompt = sum(2 + len(message["content"].split()) for message in request["messages"])
    if prompt >= WINDOW:
        text = f"The model's maximum context length is {WINDOW} tokens, and the prompt has {prompt}."
        return error(400, text, None)
    limit = min(request.get("max_tokens", WINDOW), WINDOW - prompt)
    spoken, reason = (SENTENCE, "stop") if limit > SENTENCE else (limit, "length")
    message = {"role": "assistant", "content": " ".join(["word"] * spoken)}
    usage = {"prompt_tokens": prompt, "completion_tokens": spoken, "total_tokens": prompt + spoken}
    return 200, {"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}


def is_valid(request: Any) -> bool:
    """Whether a request has the fields that are served, each of its type and within its range."""
    if not (isinstance(request, dict) and {"model", "messages"} <= request.keys() <= FIELDS.keys()):
        return False
    if not all(type(value) in FIELDS[name] for name, value in request.items()):
        return False
    in_range = request.get("temperature", 1) >= 0 and request.get("max_tokens", 1) > 0
    return bool(in_range and request["messages"] and all(map(is_message, request["messages"])))


def is_message(message: Any) -> bool:
    """Whether it has a known role and a text."""
    known = isinstance(message, dict) and message.get("role") in ("system", "user", "assistant")
    return known and isinstance(message.get("content"), str)


def error(status: int, message: str, code: str | None) -> tuple[int, dict[str, Any]]:
    """An OpenAI error object."""
    return status, {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}
