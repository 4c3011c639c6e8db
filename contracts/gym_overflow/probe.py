"""Requests whose final prompt has an exact length, said relative to the window of whatever endpoint gets them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.ruler import NoRoomError, Ruler, model_of, window_of

if TYPE_CHECKING:
    from contracts.answer import Answer
    from contracts.gym_overflow.protocols import Endpoint


class Route(StrEnum):
    """A route that builds a prompt and generates from it."""

    CHAT = "/v1/chat/completions"
    COMPLETIONS = "/v1/completions"
    RESPONSES = "/v1/responses"


#: The field that caps the number of generated tokens, by route.
LIMIT_FIELD = {Route.CHAT: "max_tokens", Route.COMPLETIONS: "max_tokens", Route.RESPONSES: "max_output_tokens"}

_EARLIER = ({"role": "user", "content": "a"}, {"role": "assistant", "content": "b"})


@dataclass(frozen=True)
class Probe:
    """A request whose final prompt has ``window + offset`` tokens.

    Attributes:
        offset: 0 fills the window exactly, -1 leaves room for one token.
        output_limit: Largest number of tokens to generate, ``None`` to leave the field out.
        turns: Number of user turns on the chat route, fewer where the window has no room for them; the earlier ones
            hold one letter each.
        lead: Text in front of the filler of the last user turn.
    """

    offset: int = 0
    output_limit: int | None = None
    turns: int = 1
    lead: str = ""


def body_of(endpoint: Endpoint, probe: Probe, route: Route = Route.CHAT, **fields: Any) -> dict[str, Any]:
    """The request body for ``probe``; ``fields`` are added as they are.

    Raises:
        PromptError: If no prompt of exactly that length can be built.
    """
    if probe.output_limit is not None:
        fields = {LIMIT_FIELD[route]: probe.output_limit, **fields}

    def build(text: str) -> dict[str, Any]:
        return {"model": model_of(endpoint), **_prompt(route, probe, text), **fields}

    try:
        return Ruler.of(endpoint).fitted(route, build, window_of(endpoint) + probe.offset)
    except NoRoomError:
        if probe.turns == 1:
            raise
        return body_of(endpoint, replace(probe, turns=probe.turns - 1), route, **fields)


def send(endpoint: Endpoint, probe: Probe, route: Route = Route.CHAT, **fields: Any) -> Answer:
    """Send the request for ``probe`` and read the answer."""
    return endpoint.request("POST", route, json=body_of(endpoint, probe, route, **fields))


def _prompt(route: Route, probe: Probe, text: str) -> dict[str, Any]:
    prompt = prompt_of(route, probe.lead + text)
    if route is Route.CHAT:
        prompt["messages"] = [*_EARLIER * (probe.turns - 1), *prompt["messages"]]
    return prompt


def prompt_of(route: Route, text: str) -> dict[str, Any]:
    """The field that holds the prompt of a request, for one text."""
    match route:
        case Route.CHAT:
            return {"messages": [{"role": "user", "content": text}]}
        case Route.COMPLETIONS:
            return {"prompt": text}
        case Route.RESPONSES:
            return {"input": text}
