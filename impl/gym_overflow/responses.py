"""`/v1/responses` of the reference endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from impl.gym_overflow.answers import IncompleteDetails, OutputMessage, OutputText, Response, ResponseUsage
from impl.gym_overflow.deployment import CREATED, Deployment
from impl.gym_overflow.schemas import (
    Function,
    FunctionCallOutput,
    Message,
    ResponseMessage,
    ResponsesRequest,
    Sampling,
    TextPart,
    Tool,
)
from impl.gym_overflow.sse import event_stream
from impl.gym_overflow.template import render_chat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import Response as HttpResponse

    from impl.gym_overflow.engine import Generation

_ID = "resp_reference"
_MESSAGE_ID = "msg_reference"


def create_response(deployment: Deployment, request: ResponsesRequest) -> Response | HttpResponse:
    """Serve one response, through the same template, splice and window as a chat completion.

    Raises:
        UnknownModelError: Another model is asked for.
        ContextLengthOverflowError: The final prompt leaves no room for one token.
    """
    deployment.check_model(request.model)
    prompt = response_prompt(request)
    sampling = Sampling(model=request.model, temperature=request.temperature)
    params = deployment.sampling_params(sampling, request.max_output_tokens, len(prompt), 0)
    generation = deployment.engine.generate(prompt, params)
    response = _response(deployment, len(prompt), generation)
    return event_stream(_events(response), named=True) if request.stream else response


def response_prompt(request: ResponsesRequest) -> list[int]:
    """Render a request's instructions, items and tools into the final prompt's token ids."""
    messages = [] if request.instructions is None else [Message(role="system", content=request.instructions)]
    items = request.input
    if isinstance(items, str):
        messages.append(Message(role="user", content=items))
    else:
        messages += [_message(item) for item in items]
    tools = [
        Tool(
            type="function",
            function=Function(name=tool.name, description=tool.description, parameters=tool.parameters),
        )
        for tool in request.tools or ()
    ]
    return render_chat(messages, tools)


def _message(item: ResponseMessage | FunctionCallOutput) -> Message:
    if isinstance(item, FunctionCallOutput):
        return Message(role="tool", content=item.output, tool_call_id=item.call_id)
    content = item.content
    return Message(
        role=item.role,
        content=content if isinstance(content, str) else [TextPart(type="text", text=part.text) for part in content],
        prompt_token_ids=item.prompt_token_ids,
        generation_token_ids=item.generation_token_ids,
    )


def _response(deployment: Deployment, prompt_tokens: int, generation: Generation) -> Response:
    cut = generation.finish_reason == "length"
    status = "incomplete" if cut else "completed"
    return Response(
        id=_ID,
        created_at=CREATED,
        model=deployment.model,
        status=status,
        incomplete_details=IncompleteDetails() if cut else None,
        output=[OutputMessage(id=_MESSAGE_ID, status=status, content=[OutputText(text=generation.text)])],
        usage=ResponseUsage(
            input_tokens=prompt_tokens,
            output_tokens=len(generation.tokens),
            total_tokens=prompt_tokens + len(generation.tokens),
        ),
    )


def _events(response: Response) -> Iterator[dict[str, Any]]:
    whole = response.model_dump()
    opened = {**whole, "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
    yield {"type": "response.created", "sequence_number": 0, "response": opened}
    text = response.output[0].content[0].text
    where = {"item_id": _MESSAGE_ID, "output_index": 0, "content_index": 0}
    for number, letter in enumerate(text, start=1):
        yield {"type": "response.output_text.delta", "sequence_number": number, **where, "delta": letter}
    yield {"type": f"response.{response.status}", "sequence_number": len(text) + 1, "response": whole}
