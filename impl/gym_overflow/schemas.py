"""What the reference endpoint accepts, as strict models: the served OpenAPI document says exactly this.

Types are strict ("1" is no integer), fields that are not known here are ignored, as vLLM and OpenAI ignore them, and
the document says so by leaving additional properties open.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _whole_number(value: object) -> object:
    # JSON Schema counts 1.0 as an integer, and so does the document that is served.
    return int(value) if isinstance(value, float) and value.is_integer() else value


# After the bounds: a validator before them would hide them from the document.
_Whole = BeforeValidator(_whole_number)
TokenId = Annotated[int, Field(ge=0, lt=2**31), _Whole]
OutputCap = Annotated[int, Field(ge=1), _Whole]
TokenIds = Annotated[list[TokenId], Field(min_length=1)]


class Schema(BaseModel):
    """Base of every request model: strict types, finite numbers, unknown fields ignored."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, extra="ignore")


class TextPart(Schema):
    """One text part of a message; the reference knows no other kind."""

    type: Literal["text"]
    text: str


class FunctionCall(Schema):
    """The function a tool call names, with its arguments as JSON text."""

    name: str
    arguments: str


class ToolCall(Schema):
    """One tool call of an assistant message."""

    id: str
    type: Literal["function"]
    function: FunctionCall


class Message(Schema):
    """One message; an assistant message may carry the ids it was generated from and with (see `render_chat`)."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[TextPart] | None = None
    name: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    prompt_token_ids: list[TokenId] | None = None
    generation_token_ids: list[TokenId] | None = None


class Function(Schema):
    """A function that the model may call."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class Tool(Schema):
    """A tool; its whole schema is rendered into the prompt and counted."""

    type: Literal["function"]
    function: Function


class StreamOptions(Schema):
    """What a stream carries besides the text."""

    include_usage: bool | None = None


class Sampling(Schema):
    """What chat and completions requests have in common."""

    model: str
    max_tokens: OutputCap | None = None
    min_tokens: Annotated[int, Field(ge=0), _Whole] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    n: Annotated[int, Field(ge=1, le=128), _Whole] | None = None
    seed: Annotated[int, _Whole] | None = None
    stop: str | list[str] | None = None
    stop_token_ids: list[TokenId] | None = None
    ignore_eos: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    return_token_ids: bool | None = None


class ChatCompletionRequest(Sampling):
    """A request to `/v1/chat/completions`; `max_completion_tokens` wins over `max_tokens`."""

    messages: Annotated[list[Message], Field(min_length=1)]
    max_completion_tokens: OutputCap | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20), _Whole] | None = None
    tools: list[Tool] | None = None

    @property
    def requested_output(self) -> int | None:
        """The output cap that counts, in tokens."""
        return self.max_tokens if self.max_completion_tokens is None else self.max_completion_tokens


class CompletionRequest(Sampling):
    """A request to `/v1/completions`, with one prompt or several."""

    prompt: str | TokenIds | Annotated[list[str], Field(min_length=1)] | Annotated[list[TokenIds], Field(min_length=1)]
    max_tokens: OutputCap | None = 16
    logprobs: Annotated[int, Field(ge=0, le=20), _Whole] | None = None


class ResponsePart(Schema):
    """One text part of an item."""

    type: Literal["input_text", "output_text"]
    text: str


class ResponseMessage(Schema):
    """A message item."""

    type: Literal["message"] | None = None
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[ResponsePart]
    prompt_token_ids: list[TokenId] | None = None
    generation_token_ids: list[TokenId] | None = None


class FunctionCallOutput(Schema):
    """The result of a tool call."""

    type: Literal["function_call_output"]
    call_id: str
    output: str


class ResponseFunction(Schema):
    """A function tool as the responses API writes it; it is rendered and counted like a chat tool."""

    type: Literal["function"]
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class ResponsesRequest(Schema):
    """A request to `/v1/responses`."""

    model: str
    input: str | Annotated[list[ResponseMessage | FunctionCallOutput], Field(min_length=1)]
    instructions: str | None = None
    max_output_tokens: OutputCap | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    stream: bool | None = None
    tools: list[ResponseFunction] | None = None


class TokenizeChatRequest(Schema):
    """A request to `/tokenize` for a conversation."""

    model: str | None = None
    messages: Annotated[list[Message], Field(min_length=1)]
    tools: list[Tool] | None = None
    add_generation_prompt: bool | None = None


class TokenizeCompletionRequest(Schema):
    """A request to `/tokenize` for a text."""

    model: str | None = None
    prompt: str
