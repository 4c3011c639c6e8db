"""4xx: what an adapter does not declare is absent, and not half there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow import sources
from contracts.gym_overflow.endpoint_checks.variants import TOOL
from contracts.gym_overflow.judging import shown
from contracts.gym_overflow.probe import Route
from contracts.gym_overflow.ruler import model_of
from contracts.gym_overflow.sides import ENDPOINT_CAPABILITIES, endpoint
from contracts.level import Level

if TYPE_CHECKING:
    from contracts.answer import Answer
    from contracts.check import Check
    from contracts.gym_overflow.protocols import Endpoint

_OK = 200
_ABSENT = (404, 405, 501)
_REFUSED = range(400, 500)
_USER = {"role": "user", "content": "a"}
_ROUTES: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "completions": ("POST", Route.COMPLETIONS.value, {"prompt": "a", "max_tokens": 1}),
    "responses": ("POST", Route.RESPONSES.value, {"input": "a", "max_output_tokens": 16}),
    "tokenize": ("POST", "/tokenize", {"prompt": "a"}),
    "openapi": ("GET", "/openapi.json", None),
}
_CHAT: dict[str, Any] = {"messages": [_USER]}
_REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "streaming": (Route.CHAT, {**_CHAT, "stream": True}),
    "tools": (Route.CHAT, {**_CHAT, "tools": [TOOL]}),
    "logprobs": (Route.CHAT, {**_CHAT, "logprobs": True, "top_logprobs": 1}),
    "n": (Route.CHAT, {**_CHAT, "n": 2}),
    "max_completion_tokens": (Route.CHAT, {**_CHAT, "max_completion_tokens": 2}),
    "token_prompts": (Route.COMPLETIONS, {"prompt": [1, 1], "max_tokens": 1}),
}


@endpoint.check(
    "GO-401",
    level=Level.SHOULD,
    source=sources.OPENAPI,
    examples=tuple(ENDPOINT_CAPABILITIES),
)
def undeclared_means_absent(check: Check[Endpoint], adapter: Endpoint, case: str) -> None:
    """A capability that is not declared is refused in the documented way.

    Why: a path that exists but was never declared is held to nothing, and that is where the next 500 comes from.

    Usual cause: a capability was left out of the adapter to silence a check.
    """
    if case in adapter.capabilities or case == "internal_fault":
        return
    if served := _splices(adapter) if case == "splice" else _served(adapter, case):
        raise check.fail(f"{case} is not declared but served", got=shown(served), want=ENDPOINT_CAPABILITIES[case])


def _served(adapter: Endpoint, capability: str) -> Answer | None:
    """The answer that serves what was not declared, ``None`` where it is refused."""
    if capability in _ROUTES:
        method, path, body = _ROUTES[capability]
        answer = adapter.request(method, path, json=None if body is None else {"model": model_of(adapter), **body})
        return None if answer.status in _ABSENT else answer
    path, body = _REQUESTS[capability]
    answer = adapter.request("POST", path, json={"model": model_of(adapter), **body})
    return None if answer.status in _REFUSED or answer.status in _ABSENT else answer


def _splices(adapter: Endpoint) -> Answer | None:
    """The answer whose prompt the ids in its history have changed, ``None`` where they are refused or not looked at."""
    assistant = {"role": "assistant", "content": "a"}
    plain, spliced = (
        adapter.request(
            "POST",
            Route.CHAT,
            json={"model": model_of(adapter), "messages": [_USER, {**assistant, **ids}, _USER], "max_tokens": 1},
        )
        for ids in ({}, {"prompt_token_ids": [1] * 4, "generation_token_ids": [1] * 4})
    )
    return None if spliced.status in _REFUSED or _prompt_tokens(plain) == _prompt_tokens(spliced) else spliced


def _prompt_tokens(answer: Answer) -> object:
    return json.loads(answer.body).get("usage", {}).get("prompt_tokens") if answer.status == _OK else None
