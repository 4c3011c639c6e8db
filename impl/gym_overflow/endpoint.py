"""The reference endpoint: an OpenAI-compatible server over the embedded engine, as a FastAPI application."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, FastAPI, Response

from impl.gym_overflow import answers, schemas
from impl.gym_overflow.chat import create_chat_completion
from impl.gym_overflow.completions import completion_prompts, create_completion
from impl.gym_overflow.deployment import CREATED, Deployment
from impl.gym_overflow.engine import Engine
from impl.gym_overflow.errors import add_error_handlers
from impl.gym_overflow.openapi import exact_openapi
from impl.gym_overflow.overflow import clamp_max_tokens
from impl.gym_overflow.responses import create_response, response_prompt
from impl.gym_overflow.strict_json import StrictJsonRoute
from impl.gym_overflow.template import render_chat

DEFAULT_MODEL = "reference"
DEFAULT_WINDOW = 128

_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": answers.ErrorResponse, "description": "The request is not valid, or its prompt fills the window"},
    404: {"model": answers.ErrorResponse, "description": "The model is not served here"},
    500: {"model": answers.ErrorResponse, "description": "The server failed"},
}
_EVENT = {
    "type": "object",
    "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
    "required": ["data"],
}
_STREAMED: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": _EVENT}}, "description": "Whole, or as a stream of events"},
    **_ERRORS,
}


def create_app(*, window: int = DEFAULT_WINDOW, model: str = DEFAULT_MODEL, engine: Engine | None = None) -> FastAPI:
    """Build a reference endpoint.

    Args:
        window: Tokens that prompt and output may hold together; at least 2.
        model: The model's name.
        engine: What generates; the embedded engine by default.

    Raises:
        ValueError: The window cannot hold a prompt token and an output token.
    """
    if window < 2:  # noqa: PLR2004 - one token of prompt, one of output
        raise ValueError(f"window is {window} tokens, but must hold at least one of prompt and one of output")
    deployment = Deployment(model, window, Engine() if engine is None else engine)
    app = FastAPI(title="Reference chat endpoint", version="1.0", strict_content_type=False)
    router = APIRouter(route_class=StrictJsonRoute, strict_content_type=False)
    _add_inference_routes(router, deployment)
    _add_information_routes(router, deployment)
    app.include_router(router)
    add_error_handlers(app)
    exact_openapi(app, model)
    return app


def final_prompt_tokens(path: str, body: dict[str, Any]) -> int:
    """Count the final prompt that the endpoint builds for a request body, in tokens; the longest of several.

    Raises:
        pydantic.ValidationError: The body is no valid request to this path.
        LookupError: The path takes no prompt.
    """
    match path:
        case "/v1/chat/completions":
            chat = schemas.ChatCompletionRequest.model_validate(body)
            return len(render_chat(chat.messages, chat.tools))
        case "/v1/completions":
            return max(map(len, completion_prompts(schemas.CompletionRequest.model_validate(body).prompt)))
        case "/v1/responses":
            return len(response_prompt(schemas.ResponsesRequest.model_validate(body)))
        case "/tokenize":
            if "messages" in body:
                return len(_tokenize_prompt(schemas.TokenizeChatRequest.model_validate(body)))
            return len(_tokenize_prompt(schemas.TokenizeCompletionRequest.model_validate(body)))
    raise LookupError(f"{path} takes no prompt; paths that do: /v1/chat/completions, /v1/completions, /v1/responses")


def _add_inference_routes(router: APIRouter, deployment: Deployment) -> None:
    @router.post("/v1/chat/completions", response_model=answers.ChatCompletion, responses=_STREAMED)
    async def chat_completions(request: schemas.ChatCompletionRequest) -> answers.ChatCompletion | Response:
        """Complete a conversation."""
        return create_chat_completion(deployment, request)

    @router.post("/v1/completions", response_model=answers.Completion, responses=_STREAMED)
    async def completions(request: schemas.CompletionRequest) -> answers.Completion | Response:
        """Complete one text or several."""
        return create_completion(deployment, request)

    @router.post("/v1/responses", response_model=answers.Response, responses=_STREAMED)
    async def responses(request: schemas.ResponsesRequest) -> answers.Response | Response:
        """Answer items."""
        return create_response(deployment, request)

    @router.post("/tokenize", responses=_ERRORS)
    async def tokenize(
        request: schemas.TokenizeChatRequest | schemas.TokenizeCompletionRequest,
    ) -> answers.Tokenization:
        """Tokenize a prompt; one that fills the window is refused here as everywhere."""
        deployment.check_model(request.model)
        ids = _tokenize_prompt(request)
        clamp_max_tokens(len(ids), None, deployment.window)
        return answers.Tokenization(count=len(ids), max_model_len=deployment.window, tokens=ids)


def _add_information_routes(router: APIRouter, deployment: Deployment) -> None:
    @router.get("/v1/models")
    async def models() -> answers.ModelList:
        """List the served model and its window."""
        card = answers.ModelCard(
            id=deployment.model, created=CREATED, owned_by="reference", max_model_len=deployment.window
        )
        return answers.ModelList(data=[card])

    @router.get("/health")
    async def health() -> answers.Health:
        """Say that the server is up."""
        return answers.Health()


def _tokenize_prompt(request: schemas.TokenizeChatRequest | schemas.TokenizeCompletionRequest) -> list[int]:
    if isinstance(request, schemas.TokenizeCompletionRequest):
        return completion_prompts(request.prompt)[0]
    opens = request.add_generation_prompt is not False
    return render_chat(request.messages, request.tools, add_generation_prompt=opens)
