"""A vLLM server built from vLLM's parts, as trainers build theirs: it splices token ids into the history of a chat.

With ``--bare`` it is served without the middleware.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from vllm.entrypoints.launchers.api_server.app_state import init_app_state
from vllm.entrypoints.launchers.api_server.entry import build_async_engine_client
from vllm.entrypoints.launchers.app import build_app
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.entrypoints.launchers.launcher import serve_http, setup_server
from vllm.utils.argparse_utils import FlexibleArgumentParser

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Awaitable, Callable

MIDDLEWARE = "impl.gym_overflow.middleware.OverflowMiddleware"
IDS = ("prompt_token_ids", "generation_token_ids")


def splicing(render_chat: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Let a renderer put the ids that the last answer of a history carries in the place of its rendering."""

    async def render(request: Any, **options: Any) -> Any:
        heads = [number for number, message in enumerate(request.messages, start=1) if message.get(IDS[0])]
        rendered = await render_chat(request, **options)
        if not heads or not isinstance(rendered, tuple):
            return rendered
        head_only = {"add_generation_prompt": False, "continue_final_message": True}
        changes = {"messages": request.messages[: heads[-1]], **head_only}
        head = await render_chat(request.model_copy(update=changes), **options)
        (whole,), (start,) = rendered[1], head[1]
        turn = request.messages[heads[-1] - 1]
        rest = whole["prompt_token_ids"][len(start["prompt_token_ids"]) :]
        whole["prompt_token_ids"] = [*turn[IDS[0]], *turn[IDS[1]], *rest]
        return rendered

    return render


async def serve(args: Namespace, *, bare: bool) -> None:
    """Serve until the process is told to stop."""
    address, listener = setup_server(args, reuse_port=False)
    print(f"serving on {address}", flush=True)  # noqa: T201 - for whoever reads the log
    async with build_async_engine_client(args) as engine:
        if not bare:
            args.middleware = [*args.middleware, MIDDLEWARE]
        tasks = await engine.get_supported_tasks()
        app = build_app(args, tasks, engine.model_config)
        await init_app_state(engine, app.state, args, tasks)
        renderer = app.state.online_renderer
        renderer.render_chat = splicing(renderer.render_chat)
        stopped = await serve_http(app, sock=listener, host=args.host, port=args.port)
    await stopped
    listener.close()


def main() -> None:
    """Take the arguments of ``vllm serve``."""
    bare = "--bare" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--bare"]
    args = make_arg_parser(FlexibleArgumentParser()).parse_args(arguments)
    validate_parsed_serve_args(args)
    asyncio.run(serve(args, bare=bare))


if __name__ == "__main__":
    main()
