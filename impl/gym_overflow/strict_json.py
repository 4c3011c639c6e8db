"""Reads a request body as JSON and nothing more: no NaN, no Infinity, no lone surrogates, no endless nesting."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


def parse(body: bytes) -> Any:
    """Parse strict JSON.

    Raises:
        json.JSONDecodeError: The body is none.
    """
    try:
        document = json.loads(body.decode("utf-8"), parse_constant=_refuse)
        json.dumps(document, ensure_ascii=False).encode("utf-8")  # lone surrogates are no text
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        raise json.JSONDecodeError("not JSON text", "", 0) from error
    return document


def _refuse(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is no JSON number", "", 0)


class _StrictRequest(Request):
    async def json(self) -> Any:
        return parse(await self.body())


class StrictJsonRoute(APIRoute):
    """A route whose body is read by `parse`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the route's handler so that it reads the body strictly."""
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handler(_StrictRequest(request.scope, request.receive))

        return strict
