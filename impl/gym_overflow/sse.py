"""Server-sent events. A stream is opened only once its request is known to be servable: a refusal comes before it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fastapi.responses import StreamingResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable


def event_stream(events: Iterable[dict[str, Any]], *, named: bool = False) -> StreamingResponse:
    """Answer with events.

    Args:
        events: The events' data.
        named: Write each event's `type` as its name (responses API) and no closing "[DONE]" (the other routes).
    """

    async def lines() -> AsyncIterator[str]:
        for event in events:
            name = f"event: {event['type']}\n" if named else ""
            yield f"{name}data: {json.dumps(event)}\n\n"
        if not named:
            yield "data: [DONE]\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")
