"""`/v1/completions` of the reference endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from impl.gym_overflow.answers import Completion, CompletionChoice, CompletionLogprobs, Usage
from impl.gym_overflow.deployment import CREATED, Deployment
from impl.gym_overflow.engine import Generation, tokenize
from impl.gym_overflow.sse import event_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import Response

    from impl.gym_overflow.schemas import CompletionRequest

_ID = "cmpl-reference"


def create_completion(deployment: Deployment, request: CompletionRequest) -> Completion | Response:
    """Serve one completion request; every prompt is held against the window before any of them is generated from.

    Raises:
        UnknownModelError: Another model is asked for.
        InvalidRequestError: The fields contradict each other.
        ContextLengthOverflowError: A prompt leaves no room for one token.
    """
    deployment.check_model(request.model)
    prompts = completion_prompts(request.prompt)
    requested = request.max_tokens
    if requested is not None and "max_tokens" not in request.model_fields_set:
        requested = max(requested, request.min_tokens or 0)
    top = request.logprobs or 0
    admitted = [(prompt, deployment.sampling_params(request, requested, len(prompt), top)) for prompt in prompts]
    generated = [
        (prompt, generation)
        for prompt, params in admitted
        for generation in deployment.choices(prompt, params, request.n)
    ]
    choices = [_choice(request, index, *one) for index, one in enumerate(generated)]
    usage = Usage.of(sum(map(len, prompts)), [generation for _, generation in generated])
    if request.stream:
        return event_stream(_chunks(deployment, request, choices, usage))
    return Completion(id=_ID, created=CREATED, model=deployment.model, choices=choices, usage=usage)


def completion_prompts(prompt: str | list[Any]) -> list[list[int]]:
    """Turn the `prompt` field into the token ids of each prompt it holds."""
    if isinstance(prompt, str):
        return [tokenize(prompt)]
    if isinstance(prompt[0], int):
        return [prompt]
    return [tokenize(one) if isinstance(one, str) else one for one in prompt]


def _choice(request: CompletionRequest, index: int, prompt: list[int], generation: Generation) -> CompletionChoice:
    return CompletionChoice(
        index=index,
        text=generation.text,
        logprobs=None if request.logprobs is None else CompletionLogprobs.of(generation.tokens),
        finish_reason="stop" if generation.finish_reason == "stop" else "length",
        token_ids=generation.ids if request.return_token_ids else None,
        prompt_token_ids=prompt if request.return_token_ids else None,
    )


def _chunks(
    deployment: Deployment, request: CompletionRequest, choices: list[CompletionChoice], usage: Usage
) -> Iterator[dict[str, Any]]:
    head = {"id": _ID, "object": "text_completion", "created": CREATED, "model": deployment.model}
    for choice in choices:
        whole = choice.model_dump(exclude_none=True)
        for letter in choice.text:
            yield {**head, "choices": [{"index": choice.index, "text": letter, "finish_reason": None}]}
        yield {**head, "choices": [{**whole, "text": ""}]}
    if request.stream_options and request.stream_options.include_usage:
        yield {**head, "choices": [], "usage": usage.model_dump()}
