"""1xx: the refusal is the same on every path that builds a prompt."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow import sources, strategies
from contracts.gym_overflow.endpoint_checks.window import hold_alike, hold_refused_alike
from contracts.gym_overflow.judging import shown
from contracts.gym_overflow.probe import Probe, Route, body_of, send
from contracts.gym_overflow.ruler import Ruler, model_of, window_of
from contracts.gym_overflow.sides import ENDPOINT_CAPABILITIES, endpoint
from contracts.gym_overflow.window_probes import FULL, ONE_OVER, ROOM_FOR_ONE

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.gym_overflow.protocols import Endpoint

OK = 200
TOOL = {
    "type": "function",
    "function": {"name": "f"},
}
_OVERFLOWS: dict[str, Any] = {"examples": (FULL, ONE_OVER), "cases": strategies.overflows}


@endpoint.check(
    "GO-110",
    source=sources.CLASSIFIER,
    requires={"max_completion_tokens"},
    examples=(FULL, ONE_OVER, replace(FULL, output_limit=10**6)),
    cases=strategies.overflows,
)
def refusal_with_max_completion_tokens(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """An overflow is refused the same when the output limit is sent as `max_completion_tokens`.

    Why: vLLM refuses a full window in words of this field then, which no site looks for.

    Usual cause: the refusal is worded for the field that the client sent.
    """
    limit = case.output_limit or 1
    answer = send(adapter, replace(case, output_limit=None), max_completion_tokens=limit)
    hold_alike(check, adapter, answer, replace(case, output_limit=limit))


@endpoint.check("GO-111", source=sources.CLASSIFIER, requires={"streaming"}, **_OVERFLOWS)
def refusal_precedes_the_stream(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """With `stream: true` an overflow is refused before the first byte of the stream, as without it.

    Why: once a 200 has been sent, the status can no longer say what happened, and the classifier reads the status.

    Usual cause: the prompt is only built inside the generator that produces the stream.
    """
    hold_refused_alike(check, adapter, case, stream=True)


@endpoint.check("GO-112", source=sources.CLASSIFIER, requires={"n"}, **_OVERFLOWS)
def refusal_with_several_completions(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """An overflow is refused the same when several completions are asked for, which a prompt that fits gets.

    Why: GRPO samples groups; a path of its own for n > 1 must not have a refusal of its own.

    Usual cause: the n > 1 path starts its sub-requests before the prompt is held against the window.
    """
    hold_refused_alike(check, adapter, case, n=3)
    choices = _hold_served(check, adapter, Route.CHAT, n=3)["choices"]
    if len(choices) != 3:  # noqa: PLR2004 - as many as were asked for
        raise check.fail("another number of completions was returned", got=len(choices), want=3)


@endpoint.check("GO-113", source=sources.CLASSIFIER, requires={"logprobs"}, **_OVERFLOWS)
def refusal_with_logprobs(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """An overflow is refused the same when logprobs are asked for, which a prompt that fits gets.

    Why: rollouts always ask for logprobs.

    Usual cause: logprobs are rendered on a path that raises its own error.
    """
    fields: dict[str, Any] = {"logprobs": True, "top_logprobs": 1}
    hold_refused_alike(check, adapter, case, **fields)
    returned = _hold_served(check, adapter, Route.CHAT, **fields)["choices"][0].get("logprobs")
    if not returned:
        raise check.fail("no logprobs were returned", got=returned, want="logprobs of each token")


@endpoint.check("GO-114", source=sources.CLASSIFIER, requires={"tools"}, **_OVERFLOWS)
def refusal_with_tools(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """An overflow is refused the same when the request carries tools, whose schemas count as prompt.

    Why: in agentic rollouts the tools are a large part of the prompt.

    Usual cause: the prompt is counted before the tools are rendered into it.
    """
    hold_refused_alike(check, adapter, case, tools=[TOOL])
    _hold_served(check, adapter, Route.CHAT, tools=[TOOL])


@endpoint.check("GO-115", source=sources.CLASSIFIER, requires={"completions"}, **_OVERFLOWS)
def refusal_on_completions(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """`/v1/completions` refuses an overflow as the chat route does, and serves the last prompt that fits.

    Why: since 0.5.0 Gym has a completions backend, with a classifier of its own.

    Usual cause: the two routes build their errors separately.
    """
    hold_refused_alike(check, adapter, case, Route.COMPLETIONS)
    _hold_served(check, adapter, Route.COMPLETIONS)


@endpoint.check("GO-116", source=sources.CLASSIFIER, requires={"responses"}, **_OVERFLOWS)
def refusal_on_responses(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """`/v1/responses` refuses an overflow as the chat route does, and serves the last prompt that fits.

    Why: a full window answered in other words (max_model_len) is classified by no site.

    Usual cause: the route was added later and its errors were never held against the classifier.
    """
    hold_refused_alike(check, adapter, case, Route.RESPONSES)
    _hold_served(check, adapter, Route.RESPONSES)


@endpoint.check("GO-117", source=sources.VLLM_SPLICE, requires={"splice"}, **_OVERFLOWS)
def spliced_history_is_refused_alike(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """A spliced history is held against the window as a plain one of the same length is.

    Why: every multi-turn rollout is spliced; unguarded, each overflow of theirs is a bare 500.

    Usual cause: the splice happens after the guard, so the final prompt is longer than the one that was counted.
    """
    history = _first_turn(check, adapter)

    def build(text: str) -> dict[str, Any]:
        return {"model": model_of(adapter), "messages": [*history, {"role": "user", "content": text}]}

    window = window_of(adapter)
    ruler = Ruler.of(adapter)
    spliced = adapter.request("POST", Route.CHAT, json=ruler.fitted(Route.CHAT, build, window + case.offset))
    hold_alike(check, adapter, spliced, Probe(offset=case.offset, turns=2))
    served = adapter.request("POST", Route.CHAT, json=ruler.fitted(Route.CHAT, build, window - 1))
    if served.status != OK:
        raise check.fail("a spliced history that fits was refused", got=shown(served), want=OK, window=window)


@endpoint.check("GO-118", source=sources.CLASSIFIER, requires={"tokenize"}, **_OVERFLOWS)
def tokenize_knows_the_length(check: Check[Endpoint], adapter: Endpoint, case: Probe) -> None:
    """`/tokenize` counts a prompt that overflows as the refusal does, or refuses it in the same way.

    Why: middleware and clients that must tell a full window from a client bug have only this count.

    Usual cause: a second template or a second window in the tokenizing route.
    """
    body = body_of(adapter, case)
    window = window_of(adapter)
    answer = adapter.request("POST", "/tokenize", json={key: body[key] for key in ("model", "messages")})
    if answer.status == OK:
        count = json.loads(answer.body).get("count")
        if count != window + case.offset:
            raise check.fail("/tokenize counts another prompt", got=count, want=window + case.offset, window=window)
        return
    hold_alike(check, adapter, answer, Probe(case.offset))


def _hold_served(check: Check[Endpoint], adapter: Endpoint, route: Route, **fields: Any) -> dict[str, Any]:
    answer = send(adapter, ROOM_FOR_ONE, route, **fields)
    if answer.status != OK:
        raise check.fail(f"{route} refused a prompt that fits", got=shown(answer), want=OK, window=window_of(adapter))
    document: dict[str, Any] = json.loads(answer.body)
    return document


def _first_turn(check: Check[Endpoint], adapter: Endpoint) -> list[dict[str, Any]]:
    """One real turn, whose answer carries the token ids that the next turn splices in."""
    question = {"role": "user", "content": "Hello."}
    body = {"model": model_of(adapter), "messages": [question], "max_tokens": 4, "return_token_ids": True}
    answer = adapter.request("POST", Route.CHAT, json=body)
    ids = token_ids(json.loads(answer.body)) if answer.status == OK else {}
    if not all(ids.values()) or not ids:
        raise check.fail(
            "an answer carries no token ids to splice", got=shown(answer), want=ENDPOINT_CAPABILITIES["splice"]
        )
    content = json.loads(answer.body)["choices"][0]["message"]["content"]
    return [question, {"role": "assistant", "content": content, **ids}]


def token_ids(document: dict[str, Any]) -> dict[str, Any]:
    """The ids of a turn, where NeMo-RL puts them or where vLLM does."""
    choice = document["choices"][0]
    message = choice["message"]
    return {
        "prompt_token_ids": message.get("prompt_token_ids") or document.get("prompt_token_ids"),
        "generation_token_ids": message.get("generation_token_ids") or choice.get("token_ids"),
    }
