"""Reads the body of a request as JSON and nothing more, within its limit of bytes."""

from __future__ import annotations

import json
from collections import Counter
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

#: Bodies that are too large are read to their end and thrown away, up to this many times the limit: a client that is
#: still sending does not look for an answer.
_PATIENCE = 8


#: Members of one object. Each may be wrong, and what is said of each takes more room than the member.
MAX_MEMBERS = 100_000


class NotJsonError(ValueError):
    """The body is not strict JSON."""


def parse(body: bytes) -> Any:
    """Parse strict JSON: no NaN, no name twice in one object, nothing that is not text.

    Raises:
        NotJsonError: If it is none; the message says where.
    """
    try:
        document = json.loads(body.decode(), parse_constant=_no_constant, object_pairs_hook=_object)
        if b"\\ud" in body.lower():
            json.dumps(document, ensure_ascii=False).encode()  # half of a surrogate pair is no text
    except UnicodeEncodeError:
        raise NotJsonError("half of a surrogate pair is no text") from None
    except RecursionError:
        raise NotJsonError("nested too deeply") from None
    except ValueError as error:
        raise NotJsonError(str(error)) from None
    return document


def _no_constant(name: str) -> NoReturn:
    raise NotJsonError(f"{name} is no JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MAX_MEMBERS:
        raise NotJsonError(f"an object has more than {MAX_MEMBERS} members")
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise NotJsonError(f"{twice[:80]!r} stands twice in one object")
    return members


def strict_route(max_body: int) -> type[APIRoute]:
    """Routes whose bodies are JSON of at most ``max_body`` bytes; 400, 413 or 415 are answered for others."""

    class StrictRequest(Request):
        async def body(self) -> bytes:
            # FastAPI asks for it before it asks for the JSON.
            if not hasattr(self, "_body"):
                self._body = await _read(self, max_body)
            return self._body

        async def json(self) -> Any:
            try:
                return parse(await self.body())
            except NotJsonError as error:
                raise HTTPException(HTTPStatus.BAD_REQUEST, f"body: {error}") from None

    class StrictRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handler = super().get_route_handler()

            async def strict(request: Request) -> Response:
                # Also because a page from elsewhere can make a browser send any other type without asking first.
                if self.body_field and _media_type(request) != "application/json":
                    raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "content-type: must be application/json")
                return await handler(StrictRequest(request.scope, request.receive))

            return strict

    return StrictRoute


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _read(request: Request, limit: int) -> bytes:
    declared = request.headers.get("content-length", "0")
    chunks, size = [], 0
    if int(declared) <= _PATIENCE * limit:
        async for chunk in request.stream():
            size += len(chunk)
            if size <= limit:
                chunks.append(chunk)
            elif size > _PATIENCE * limit:
                break
    if max(size, int(declared)) > limit:
        raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"body: more than {limit} bytes")
    return b"".join(chunks)
