"""Which prompts and which output cap a request body holds, for every inference route of an OpenAI-compatible server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

INFERENCE_ROUTES = (
    "/chat/completions",
    "/chat/completions/batch",
    "/completions",
    "/responses",
    "/messages",
    "/invocations",
    "/generate",
)
"""Endings of the paths on which a request holds a prompt and asks for output."""

OUTPUT_CAPS = ("max_completion_tokens", "max_tokens", "max_output_tokens")
"""Names of the fields that cap the output, the one that wins first."""

_COMPLETIONS_DEFAULT_CAP = 16


@dataclass(frozen=True, slots=True)
class TextPrompt:
    """A prompt given as text, to be tokenized as it stands."""

    text: str


@dataclass(frozen=True, slots=True)
class TokenPrompt:
    """A prompt given as token ids."""

    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """A prompt given as messages, to be rendered by the chat template.

    Attributes:
        messages: The messages without any token ids.
        options: Fields that change how the template renders (tools, chat_template_kwargs, ...).
        spliced: Ids that stand for `messages[:head]` in the final prompt (prompt and generation of an earlier turn).
        head: Number of messages that `spliced` stands for.
    """

    messages: tuple[Mapping[str, Any], ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    spliced: tuple[int, ...] = ()
    head: int = 0


Prompt = TextPrompt | TokenPrompt | ChatPrompt

_TEMPLATE_OPTIONS = (
    "tools",
    "chat_template",
    "chat_template_kwargs",
    "add_generation_prompt",
    "continue_final_message",
    "add_special_tokens",
    "mm_processor_kwargs",
)


def is_inference_route(path: str) -> bool:
    """Say whether requests to this path hold a prompt."""
    return path.rstrip("/").endswith(INFERENCE_ROUTES)


def read_prompts(path: str, request: Mapping[str, Any]) -> list[Prompt]:
    """Read every prompt of a request; empty if it holds none that can be read."""
    messages = request.get("messages")
    if path.rstrip("/").endswith("/responses"):
        messages = _responses_messages(request)
    if isinstance(messages, list) and messages:
        conversations = messages if all(isinstance(one, list) for one in messages) else [messages]
        found = [_chat_prompt(one, request) for one in conversations]
        return [prompt for prompt in found if prompt is not None]
    return _completion_prompts(request.get("prompt", request.get("text")))


def requested_output(path: str, request: Mapping[str, Any]) -> int | None:
    """Give the output cap that counts, in tokens; None if the request sets none."""
    for name in OUTPUT_CAPS:
        value = request.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    plain = path.rstrip("/").endswith("/completions") and "prompt" in request
    return _COMPLETIONS_DEFAULT_CAP if plain and "max_tokens" not in request else None


def asks_for(request: Mapping[str, Any], tokens: int) -> bool:
    """Say whether the client itself asked for this many output tokens (servers take "0" and 0.0 for 0)."""
    return any(
        isinstance(value := request.get(name), int | float | str) and str(value).strip() in {str(tokens), f"{tokens}.0"}
        for name in OUTPUT_CAPS
    )


def truncated_to(request: Mapping[str, Any], window: int) -> int | None:
    """Give the prompt length that the request has the server cut the prompt to; -1 means the window (vLLM)."""
    value = request.get("truncate_prompt_tokens")
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return window if value < 0 else value


def _chat_prompt(messages: list[Any], request: Mapping[str, Any]) -> ChatPrompt | None:
    if not all(isinstance(message, dict) for message in messages):
        return None
    spliced: tuple[int, ...] = ()
    head = 0
    plain = []
    for position, message in enumerate(messages, start=1):
        prompt_ids, generated_ids = message.get("prompt_token_ids"), message.get("generation_token_ids")
        if isinstance(prompt_ids, list) and isinstance(generated_ids, list):
            spliced, head = (*prompt_ids, *generated_ids), position
        plain.append({key: value for key, value in message.items() if not key.startswith(("prompt_", "generation_"))})
    system = request.get("system")  # Anthropic's place for the system message
    if isinstance(system, str) and not head:
        plain.insert(0, {"role": "system", "content": system})
    options = {name: request[name] for name in _TEMPLATE_OPTIONS if name in request}
    return ChatPrompt(tuple(plain), options, spliced, head)


def _completion_prompts(prompt: object) -> list[Prompt]:
    if isinstance(prompt, str):
        return [TextPrompt(prompt)]
    if not isinstance(prompt, list) or not prompt:
        return []
    if all(isinstance(token, int) for token in prompt):
        return [TokenPrompt(tuple(prompt))]
    return [
        TextPrompt(one) if isinstance(one, str) else TokenPrompt(tuple(one))
        for one in prompt
        if isinstance(one, str | list)
    ]


def _responses_messages(request: Mapping[str, Any]) -> list[Any] | None:
    given = request.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(items, list) or request.get("previous_response_id") is not None:
        return None
    instructions = request.get("instructions")
    head = [{"role": "system", "content": instructions}] if isinstance(instructions, str) else []
    return [*head, *(_as_message(item) for item in items)]


def _as_message(item: object) -> object:
    if not isinstance(item, dict):
        return item
    if item.get("type") == "function_call_output":
        return {"role": "tool", "content": item.get("output"), "tool_call_id": item.get("call_id")}
    if item.get("type") == "function_call":
        call = {"name": item.get("name"), "arguments": item.get("arguments")}
        calls = [{"id": item.get("call_id"), "type": "function", "function": call}]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    content = item.get("content")
    if isinstance(content, list):
        content = [
            {"type": "text", "text": part["text"]} if isinstance(part, dict) and "text" in part else part
            for part in content
        ]
    return {"role": item.get("role", "user"), "content": content}
