"""`/v1/chat/completions` of the reference endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from impl.gym_overflow.answers import AssistantMessage, ChatChoice, ChatCompletion, ChatLogprobs, Usage
from impl.gym_overflow.deployment import CREATED, Deployment
from impl.gym_overflow.sse import event_stream
from impl.gym_overflow.template import render_chat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import Response

    from impl.gym_overflow.engine import Generation
    from impl.gym_overflow.schemas import ChatCompletionRequest

_ID = "chatcmpl-reference"


def create_chat_completion(deployment: Deployment, request: ChatCompletionRequest) -> ChatCompletion | Response:
    """Serve one chat completion; the prompt is rendered, spliced and held against the window before anything else.

    Raises:
        UnknownModelError: Another model is asked for.
        InvalidRequestError: The fields contradict each other.
        ContextLengthOverflowError: The final prompt leaves no room for one token.
    """
    deployment.check_model(request.model)
    prompt = render_chat(request.messages, request.tools)
    top = request.top_logprobs or 0 if request.logprobs else 0
    params = deployment.sampling_params(request, request.requested_output, len(prompt), top)
    generations = deployment.choices(prompt, params, request.n)
    if request.stream:
        return event_stream(_chunks(deployment, request, prompt, generations))
    return ChatCompletion(
        id=_ID,
        created=CREATED,
        model=deployment.model,
        choices=[_choice(request, index, generation) for index, generation in enumerate(generations)],
        usage=Usage.of(len(prompt), generations),
        prompt_token_ids=prompt if request.return_token_ids else None,
    )


def _choice(request: ChatCompletionRequest, index: int, generation: Generation) -> ChatChoice:
    return ChatChoice(
        index=index,
        message=AssistantMessage(content=generation.text),
        logprobs=ChatLogprobs.of(generation.tokens) if request.logprobs else None,
        finish_reason="stop" if generation.finish_reason == "stop" else "length",
        token_ids=generation.ids if request.return_token_ids else None,
    )


def _chunks(
    deployment: Deployment, request: ChatCompletionRequest, prompt: list[int], generations: list[Generation]
) -> Iterator[dict[str, Any]]:
    head = {"id": _ID, "object": "chat.completion.chunk", "created": CREATED, "model": deployment.model}
    ids = {"prompt_token_ids": prompt} if request.return_token_ids else {}
    for index, generation in enumerate(generations):
        opening = {"index": index, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
        yield {**head, "choices": [opening], **ids}
        for position, token in enumerate(generation.tokens):
            last = position + 1 == len(generation.tokens)
            choice: dict[str, Any] = {
                "index": index,
                "delta": {"content": generation.text[position : position + 1]},
                "finish_reason": generation.finish_reason if last else None,
            }
            if request.logprobs:
                choice["logprobs"] = ChatLogprobs.of([token]).model_dump()
            if request.return_token_ids:
                choice["token_ids"] = [token.id]
            yield {**head, "choices": [choice]}
    if request.stream_options and request.stream_options.include_usage:
        yield {**head, "choices": [], "usage": Usage.of(len(prompt), generations).model_dump()}
