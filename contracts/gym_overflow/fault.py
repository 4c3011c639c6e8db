"""Requests with a fault that has nothing to do with the window."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.probe import LIMIT_FIELD, Route, prompt_of
from contracts.gym_overflow.ruler import model_of

if TYPE_CHECKING:
    from contracts.answer import Answer
    from contracts.gym_overflow.protocols import Endpoint

#: Where a user can put any words that they like.
WORD_PLACES = ("user text", "system text", "stop string", "tool schema", "model name", "unknown field")


class Fault(StrEnum):
    """One mistake of a client."""

    MAX_TOKENS_ZERO = "max_tokens is 0"
    MAX_TOKENS_NEGATIVE = "max_tokens is -1"
    MAX_TOKENS_TEXT = "max_tokens is text"
    MAX_TOKENS_FRACTION = "max_tokens is 1.5"
    EMPTY_TEXT = "the text of the prompt is empty"
    MIN_OVER_MAX = "min_tokens is above max_tokens"
    TEMPERATURE = "temperature is negative"
    TOP_P = "top_p is 7"
    N_ZERO = "n is 0"
    STREAM = "stream is text"
    STOP = "stop is a number"
    MODEL = "the model does not exist"
    NO_MESSAGES = "messages are missing"
    EMPTY_MESSAGES = "messages are empty"
    MESSAGES_TEXT = "messages are text"
    ROLE = "the role does not exist"
    CONTENT = "content is a number"
    TOOLS = "tools are text"
    NOT_JSON = "the body is not JSON"
    NOT_AN_OBJECT = "the body is a list"
    NOT_UTF8 = "the body is not UTF-8"


#: Faults in the output limit itself, whose refusal has reason to name the field.
LIMIT_FAULTS = frozenset(
    {
        Fault.MAX_TOKENS_ZERO,
        Fault.MAX_TOKENS_NEGATIVE,
        Fault.MAX_TOKENS_TEXT,
        Fault.MAX_TOKENS_FRACTION,
        Fault.MIN_OVER_MAX,
    }
)


@dataclass(frozen=True)
class FaultyRequest:
    """A short request with one fault.

    Attributes:
        fault: The mistake.
        words: Put into the user's text, and into the faulty value where that is text.
        output_limit: A valid output limit beside the fault; not used where the fault is in that field.
        route: Where it is sent; not every fault can be made on every route, see `faults_of`.
    """

    fault: Fault
    words: str = ""
    output_limit: int | None = None
    route: Route = Route.CHAT


@dataclass(frozen=True)
class Suspicion:
    """A request that holds suspicious words in a place where they mean nothing.

    Attributes:
        place: One of `WORD_PLACES`.
        words: The words.
        overflows: Whether the prompt is also longer than the window.
    """

    place: str
    words: str
    overflows: bool = False


def send_faulty(endpoint: Endpoint, case: FaultyRequest) -> Answer:
    """Send the faulty request to its route."""
    raw = _raw(case)
    if raw is not None:
        return endpoint.request("POST", case.route, content=raw, headers={"content-type": "application/json"})
    return endpoint.request("POST", case.route, json=faulty_body(endpoint, case))


def faulty_body(endpoint: Endpoint, case: FaultyRequest) -> dict[str, Any]:
    """The body with the fault in it, for the faults that leave it a JSON object."""
    words = case.words or "hello"
    changes = _changes(case.route, words)
    if case.fault not in changes:
        raise ValueError(f"{case.fault} is no fault that can be made on {case.route}")
    body: dict[str, Any] = {"model": model_of(endpoint), **prompt_of(case.route, words)}
    if case.output_limit is not None:
        body[LIMIT_FIELD[case.route]] = case.output_limit
    return {key: value for key, value in {**body, **changes[case.fault]}.items() if value is not _ABSENT}


def faults_of(route: Route) -> tuple[Fault, ...]:
    """The faults that can be made on a route."""
    possible = _changes(route, "").keys() | _NO_OBJECT
    return tuple(fault for fault in Fault if fault in possible)


_ABSENT = object()
_NO_OBJECT = frozenset({Fault.NOT_JSON, Fault.NOT_AN_OBJECT, Fault.NOT_UTF8})


def _changes(route: Route, words: str) -> dict[Fault, dict[str, Any]]:
    limit, (prompt, _) = LIMIT_FIELD[route], *prompt_of(route, words).items()
    found: dict[Fault, dict[str, Any]] = {
        Fault.MAX_TOKENS_ZERO: {limit: 0},
        Fault.MAX_TOKENS_NEGATIVE: {limit: -1},
        Fault.MAX_TOKENS_TEXT: {limit: words},
        Fault.MAX_TOKENS_FRACTION: {limit: 1.5},
        Fault.EMPTY_TEXT: prompt_of(route, ""),
        Fault.TEMPERATURE: {"temperature": -1.0},
        Fault.TOP_P: {"top_p": 7.0},
        Fault.STREAM: {"stream": words},
        Fault.MODEL: {"model": f"no such model: {words}"},
        Fault.NO_MESSAGES: {prompt: _ABSENT},
        Fault.EMPTY_MESSAGES: {prompt: []},
    }
    if route is not Route.RESPONSES:
        found |= {
            Fault.MIN_OVER_MAX: {"min_tokens": 3, limit: 2},
            Fault.N_ZERO: {"n": 0},
            Fault.STOP: {"stop": 3},
        }
    if route is not Route.CHAT:
        return found | {Fault.CONTENT: {prompt: 3}}
    user = {"role": "user", "content": words}
    return found | {
        Fault.MESSAGES_TEXT: {"messages": words},
        Fault.ROLE: {"messages": [{**user, "role": words}]},
        Fault.CONTENT: {"messages": [{**user, "content": 3}]},
        Fault.TOOLS: {"tools": words},
    }


def _raw(case: FaultyRequest) -> bytes | None:
    text = f'{{"messages": [{{"role": "user", "content": "{case.words}'
    return {
        Fault.NOT_JSON: text.encode(),
        Fault.NOT_AN_OBJECT: f'["{case.words}", "max_tokens"]'.encode(),
        Fault.NOT_UTF8: text.encode() + b'\xff\xfe"}]}',
    }.get(case.fault)
