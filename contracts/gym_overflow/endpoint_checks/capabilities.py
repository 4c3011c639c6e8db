"""4xx: what an adapter does not declare is absent, and not half there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow import sources
from contracts.gym_overflow.endpoint_checks.variants import TOOL, token_ids
from contracts.gym_overflow.judging import shown
from contracts.gym_overflow.probe import Route
from contracts.gym_overflow.ruler import model_of
from contracts.gym_overflow.sides import ENDPOINT_CAPABILITIES, endpoint
from contracts.level import Level

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.gym_overflow.protocols import Answer, Endpoint

_OK = 200
_ABSENT = (404, 405, 501)
_REFUSED = range(400, 500)
_ROUTES: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "completions": ("POST", Route.COMPLETIONS.value, {"prompt": "a", "max_tokens": 1}),
    "responses": ("POST", Route.RESPONSES.value, {"input": "a", "max_output_tokens": 16}),
    "tokenize": ("POST", "/tokenize", {"prompt": "a"}),
    "openapi": ("GET", "/openapi.json", None),
}
_FIELDS: dict[str, dict[str, Any]] = {
    "streaming": {"stream": True},
    "tools": {"tools": [TOOL]},
    "logprobs": {"logprobs": True, "top_logprobs": 1},
    "n": {"n": 2},
    "max_completion_tokens": {"max_completion_tokens": 2},
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
    if case in adapter.capabilities:
        return
    answer = _tried(adapter, case)
    if answer is None or _is_absent(case, answer):
        return
    raise check.fail(f"{case} is not declared but served", got=shown(answer), want=ENDPOINT_CAPABILITIES[case])


def _tried(adapter: Endpoint, capability: str) -> Answer | None:
    if capability == "internal_fault":
        return None
    if capability in _ROUTES:
        method, path, body = _ROUTES[capability]
        return adapter.request(method, path, json=None if body is None else {"model": model_of(adapter), **body})
    if capability == "splice":
        body = {"model": model_of(adapter), "messages": [{"role": "user", "content": "a"}]}
        return adapter.request("POST", Route.CHAT, json={**body, "max_tokens": 1, "return_token_ids": True})
    body = {"model": model_of(adapter), "messages": [{"role": "user", "content": "a"}], **_FIELDS[capability]}
    return adapter.request("POST", Route.CHAT, json=body)


def _is_absent(capability: str, answer: Answer) -> bool:
    if capability in _ROUTES:
        return answer.status in _ABSENT
    if capability == "splice":
        return answer.status != _OK or not any(token_ids(json.loads(answer.body)).values())
    return answer.status in _REFUSED
