"""Counts the tokens of the final prompt, where a server's own answer leaves open whether it fills the window."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from impl.gym_overflow.asgi_exchange import ASGIApp, HeldRequest, call_in_process
from impl.gym_overflow.prompts import ChatPrompt, Prompt, TextPrompt, TokenPrompt, read_prompts, truncated_to
from impl.gym_overflow.recognise import Refusal, recognise

_OK = 200


@dataclass(frozen=True, slots=True)
class PromptCount:
    """The longest final prompt of a request and the window it has to fit into, in tokens."""

    prompt_tokens: int
    window: int


TokenCounter = Callable[[HeldRequest], Awaitable[PromptCount | None]]
"""Counts a request's final prompt (after template and splice); None where it cannot be counted."""

CountOne = Callable[[TextPrompt | ChatPrompt], Awaitable[int | None]]
"""Tokens of one text, or of one conversation as the template renders it (its `spliced` ids left aside)."""


async def count_final_prompt(prompt: Prompt, count_one: CountOne) -> int | None:
    """Count one prompt; ids that stand for earlier turns are counted as they are, only the rest is tokenized."""
    if isinstance(prompt, TokenPrompt):
        return len(prompt.ids)
    if isinstance(prompt, TextPrompt) or not prompt.head:
        return await count_one(prompt)
    whole = await count_one(ChatPrompt(prompt.messages, prompt.options))
    head: int | None = None
    # The ids stand for a turn up to its last word. What the template puts behind it is part of the rest, unless the
    # template cannot leave a message open.
    for is_open in (True, False):
        options = {**prompt.options, "add_generation_prompt": False, "continue_final_message": is_open}
        head = await count_one(ChatPrompt(prompt.messages[: prompt.head], options))
        if head is not None:
            break
    if whole is None or head is None:
        return None
    return len(prompt.spliced) + whole - head


async def count_longest_prompt(path: str, request: Mapping[str, Any], count_one: CountOne) -> int | None:
    """Count every prompt of a request; the longest, or None if one of them cannot be counted."""
    longest: int | None = None
    for prompt in read_prompts(path, request):
        tokens = await count_final_prompt(prompt, count_one)
        if tokens is None:
            return None
        longest = max(longest or 0, tokens)
    return longest


def after_truncation(count: PromptCount, request: Mapping[str, Any]) -> PromptCount:
    """Apply the truncation that the request asks for (`truncate_prompt_tokens`)."""
    length = truncated_to(request, count.window)
    return count if length is None else PromptCount(min(count.prompt_tokens, length), count.window)


class TokenizeRoute:
    """Counts with the server's own `/tokenize` route, called in this process.

    vLLM, SGLang and the reference endpoint serve it; its answer also carries the window. A server without it is
    never guessed about: the count is None.
    """

    def __init__(self, app: ASGIApp, path: str = "/tokenize") -> None:
        self._app = app
        self._path = path

    async def __call__(self, request: HeldRequest) -> PromptCount | None:
        """Count a request's longest prompt."""
        document = request.json()
        if document is None:
            return None
        window: int | None = None

        async def count_one(prompt: TextPrompt | ChatPrompt) -> int | None:
            nonlocal window
            body: dict[str, Any] = {"model": document["model"]} if "model" in document else {}
            if isinstance(prompt, TextPrompt):
                body["prompt"] = prompt.text
            else:
                body |= {**prompt.options, "messages": list(prompt.messages)}
            root = str(request.scope.get("root_path", ""))
            asking = request.with_json(body, path=root + self._path)
            counted = _read_tokenize_answer(*await call_in_process(self._app, asking), sent=asking.body)
            if counted is None:
                return None
            window = counted.window
            return counted.prompt_tokens

        tokens = await count_longest_prompt(request.path, document, count_one)
        if tokens is None:
            return None
        if window is None:  # token ids need no tokenizer, but the window is still the server's to say
            await count_one(TextPrompt("window"))
        return None if window is None else PromptCount(tokens, window)


def _read_tokenize_answer(status: int, body: bytes, *, sent: bytes) -> PromptCount | None:
    if status != _OK:
        # A server may hold its tokenize route to the same window: its refusal then carries both numbers.
        finding = recognise(body, sent=sent)
        stated = finding.statement
        if finding.refusal is Refusal.PROMPT and stated.prompt is not None and stated.window is not None:
            return PromptCount(stated.prompt, stated.window)
        return None
    try:
        answer = json.loads(body)
    except ValueError:
        return None
    if not isinstance(answer, dict):
        return None
    tokens, window = answer.get("count"), answer.get("max_model_len")
    return PromptCount(tokens, window) if isinstance(tokens, int) and isinstance(window, int) else None
