"""Whether an answer refuses a prompt for its length, whatever it says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.endpoint_mutants.forging import JSON_TYPE, OK, with_status
from contracts.gym_overflow.probe import LIMIT_FIELD, Probe, Route, send
from contracts.gym_overflow.refusal import problems
from contracts.gym_overflow.ruler import window_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.answer import Answer
    from contracts.gym_overflow.protocols import Endpoint

_FIRST_ERROR = 400
#: A status that no endpoint refuses a prompt with.
_NO_OTHERS = 418
_PROMPTS = ("messages", "prompt", "input")


def refuses_for_length(endpoint: Endpoint, path: str, body: Mapping[str, Any], answer: Answer) -> bool:
    """Whether ``answer`` refuses ``body`` for the length of its prompt.

    Known by asking again: the same request with next to no prompt is served. What a refusal says, and with which
    status, is the endpoint's own affair.
    """
    if answer.status < _FIRST_ERROR or path not in LIMIT_FIELD:
        return False
    short = _shortened(body)
    if short == body:
        return False
    limit = LIMIT_FIELD[Route(path)]
    if not {limit, "max_completion_tokens"} & short.keys():
        short[limit] = 1
    # As bytes: what a client sent may hold what an adapter's own codec refuses to write, such as NaN.
    again = endpoint.request("POST", path, content=json.dumps(short).encode(), headers=JSON_TYPE)
    return again.status == OK


def told_from_plain(endpoint: Endpoint, forged: Answer, answer: Answer) -> Answer:
    """``forged`` instead of the refusal ``answer``, in a way that is told from the refusal of a plain chat request.

    Where the plain one lacks something already, ``forged`` may lack no more than that: ``answer`` gets another status
    then, which is told from any.
    """
    window = window_of(endpoint)
    plain = (send(endpoint, Probe(0, limit)) for limit in (None, 1))
    complete = not any(problems(refusal, prompt_tokens=window, window=window) for refusal in plain)
    return forged if complete else with_status(answer, _NO_OTHERS)


def _shortened(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _short(value) if name in _PROMPTS else value for name, value in body.items()}


def _short(prompt: Any) -> Any:
    """Of a text its first letter, of token ids the first; of a history the last turn alone is shortened."""
    match prompt:
        case str():
            return prompt.strip()[:1]
        case [int(), *_]:
            return prompt[:1]
        case [*earlier, {"content": content, **rest}]:
            return [*earlier, {**rest, "content": _short(content)}]
        case [*several]:
            return [_short(one) for one in several]
    return prompt
