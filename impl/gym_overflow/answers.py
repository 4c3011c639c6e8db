"""What the reference endpoint answers, in OpenAI's shapes."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from impl.gym_overflow.engine import Generation, Token, detokenize

FinishReason = Literal["stop", "length"]


class ErrorDetail(BaseModel):
    """OpenAI's error object."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class ErrorResponse(BaseModel):
    """Every error answer of the reference endpoint."""

    error: ErrorDetail


class Usage(BaseModel):
    """Tokens of one request."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, prompt_tokens: int, generations: list[Generation]) -> Usage:
        """Count a request's tokens; a prompt counts once, whatever `n` is."""
        completion = sum(len(generation.tokens) for generation in generations)
        return cls(prompt_tokens=prompt_tokens, completion_tokens=completion, total_tokens=prompt_tokens + completion)


class TopLogprob(BaseModel):
    """One alternative to a generated token."""

    token: str
    logprob: float
    bytes: list[int]

    @classmethod
    def of(cls, token: int, logprob: float) -> TopLogprob:
        """Describe one token id."""
        text = detokenize([token])
        return cls(token=text, logprob=logprob, bytes=list(text.encode()))


class TokenLogprob(TopLogprob):
    """A generated token with its alternatives."""

    top_logprobs: list[TopLogprob]


class ChatLogprobs(BaseModel):
    """Log-probabilities of one choice, one entry per generated token."""

    content: list[TokenLogprob]

    @classmethod
    def of(cls, tokens: list[Token]) -> ChatLogprobs:
        """Describe generated tokens."""
        return cls(
            content=[
                TokenLogprob(
                    **TopLogprob.of(token.id, token.logprob).model_dump(),
                    top_logprobs=[TopLogprob.of(*alternative) for alternative in token.top],
                )
                for token in tokens
            ]
        )


class AssistantMessage(BaseModel):
    """The message of one choice."""

    role: Literal["assistant"] = "assistant"
    content: str


class ChatChoice(BaseModel):
    """One choice of a chat completion; `token_ids` where the request asked for them."""

    index: int
    message: AssistantMessage
    logprobs: ChatLogprobs | None = None
    finish_reason: FinishReason
    token_ids: list[int] | None = None


class ChatCompletion(BaseModel):
    """Answer of `/v1/chat/completions`; `prompt_token_ids` where the request asked for them."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[ChatChoice]
    usage: Usage
    prompt_token_ids: list[int] | None = None


class CompletionLogprobs(BaseModel):
    """Log-probabilities of one completion, one entry per generated token."""

    tokens: list[str]
    token_logprobs: list[float]
    top_logprobs: list[dict[str, float]]
    text_offset: list[int]

    @classmethod
    def of(cls, tokens: list[Token]) -> CompletionLogprobs:
        """Describe generated tokens."""
        return cls(
            tokens=[detokenize([token.id]) for token in tokens],
            token_logprobs=[token.logprob for token in tokens],
            top_logprobs=[{detokenize([one]): logprob for one, logprob in token.top} for token in tokens],
            text_offset=list(range(len(tokens))),
        )


class CompletionChoice(BaseModel):
    """One choice of a completion."""

    index: int
    text: str
    logprobs: CompletionLogprobs | None = None
    finish_reason: FinishReason
    token_ids: list[int] | None = None
    prompt_token_ids: list[int] | None = None


class Completion(BaseModel):
    """Answer of `/v1/completions`."""

    id: str
    object: Literal["text_completion"] = "text_completion"
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: Usage


class OutputText(BaseModel):
    """The text of an output message."""

    type: Literal["output_text"] = "output_text"
    text: str
    annotations: list[Any] = []


class OutputMessage(BaseModel):
    """The one output item of a response."""

    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    status: Literal["in_progress", "completed", "incomplete"]
    content: list[OutputText]


class IncompleteDetails(BaseModel):
    """Why a response is incomplete."""

    reason: Literal["max_output_tokens"] = "max_output_tokens"


class ResponseUsage(BaseModel):
    """Tokens of one response."""

    input_tokens: int
    output_tokens: int
    total_tokens: int


class Response(BaseModel):
    """Answer of `/v1/responses`; a response cut at its cap or at the window is "incomplete"."""

    id: str
    object: Literal["response"] = "response"
    created_at: int
    model: str
    status: Literal["in_progress", "completed", "incomplete"]
    incomplete_details: IncompleteDetails | None = None
    output: list[OutputMessage]
    usage: ResponseUsage | None = None


class Tokenization(BaseModel):
    """Answer of `/tokenize`."""

    count: int
    max_model_len: int
    tokens: list[int]


class ModelCard(BaseModel):
    """One served model and its window."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str
    max_model_len: int


class ModelList(BaseModel):
    """Answer of `/v1/models`."""

    object: Literal["list"] = "list"
    data: list[ModelCard]


class Health(BaseModel):
    """Answer of `/health`."""

    status: Literal["ok"] = "ok"
