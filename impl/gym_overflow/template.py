"""The chat template: from messages and tools to the final prompt, with earlier turns' own token ids spliced in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from impl.gym_overflow.engine import END, ROLE_TOKENS, tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impl.gym_overflow.schemas import Message


def render_chat(
    messages: Sequence[Message], tools: Sequence[Any] | None = None, *, add_generation_prompt: bool = True
) -> list[int]:
    """Render a conversation into the final prompt.

    The last assistant message that carries `prompt_token_ids` and `generation_token_ids` stands, by those very ids,
    for everything up to and including itself: a trainer needs the tokens that were sampled, not a re-tokenization of
    their text. What follows is rendered by the template.

    Returns:
        Token ids of the final prompt.
    """
    head, ids = _spliced_history(messages)
    if not head and tools:
        schemas = [tool.model_dump(mode="json", exclude_none=True) for tool in tools]
        ids = [ROLE_TOKENS["tools"], *tokenize(json.dumps(schemas)), END]
    for message in messages[head:]:
        ids += [ROLE_TOKENS[message.role], *tokenize(_text(message)), END]
    return [*ids, ROLE_TOKENS["assistant"]] if add_generation_prompt else ids


def _spliced_history(messages: Sequence[Message]) -> tuple[int, list[int]]:
    for position in range(len(messages), 0, -1):
        message = messages[position - 1]
        if message.prompt_token_ids is not None and message.generation_token_ids is not None:
            ids = [*message.prompt_token_ids, *message.generation_token_ids]
            return position, ids if ids and ids[-1] == END else [*ids, END]
    return 0, []


def _text(message: Message) -> str:
    content = message.content
    if content is None:
        text = ""
    elif isinstance(content, str):
        text = content
    else:
        text = "".join(part.text for part in content)
    if message.tool_calls:
        text += json.dumps([call.model_dump(mode="json", exclude_none=True) for call in message.tool_calls])
    return text
