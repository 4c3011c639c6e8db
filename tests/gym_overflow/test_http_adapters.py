"""Adapters over real HTTP on loopback."""

from __future__ import annotations

import json
import logging
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from contracts.http import Answer, AsgiAdapter, UrlAdapter, served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request


async def echo(request: Request) -> Response:
    body = await request.body()
    seen = {"method": request.method, "query": request.url.query, "body": body.decode("latin-1")}
    return JSONResponse({**seen, "headers": dict(request.headers)}, 207, {"X-Upper": "Yes"})


async def stream(_request: Request) -> Response:
    async def parts() -> AsyncIterator[str]:
        for part in ("data: 1\n\n", "data: 2\n\n", "data: [DONE]\n\n"):
            yield part

    return StreamingResponse(parts(), media_type="text/event-stream")


async def raw(_request: Request) -> Response:
    return Response(b"\xff\xfe", media_type="application/octet-stream")


async def broken(_request: Request) -> Response:
    raise ValueError("boom from the application")


def application(**options: Any) -> Starlette:
    routes = [Route("/echo", echo, methods=["GET", "POST", "PUT"]), Route("/stream", stream), Route("/raw", raw)]
    return Starlette(routes=[*routes, Route("/broken", broken)], **options)


@pytest.fixture(scope="module")
def live() -> Any:
    with AsgiAdapter(application(), headers={"Authorization": "Bearer x"}, capabilities={"streaming"}) as adapter:
        yield adapter


def test_json_headers_and_query_arrive(live: AsgiAdapter) -> None:
    answer = live.request("PUT", "/echo?a=1", json={"n": 1}, headers={"X-More": "m"})
    seen = answer.json
    assert (answer.status, answer.headers["x-upper"]) == (207, "Yes")
    assert (seen["method"], seen["query"], json.loads(seen["body"])) == ("PUT", "a=1", {"n": 1})
    assert (seen["headers"]["authorization"], seen["headers"]["x-more"]) == ("Bearer x", "m")


def test_bytes_are_sent_as_they_are(live: AsgiAdapter) -> None:
    answer = live.request("POST", "/echo", content=b'{"a":\xff', headers={"content-type": "application/json"})
    assert answer.json["body"].encode("latin-1") == b'{"a":\xff'
    assert answer.json["headers"]["content-type"] == "application/json"


def test_a_stream_is_read_to_its_end(live: AsgiAdapter) -> None:
    answer = live.request("GET", "/stream")
    assert answer.text == "data: 1\n\ndata: 2\n\ndata: [DONE]\n\n"
    assert answer.json is None


def test_a_body_that_is_no_text_is_kept(live: AsgiAdapter) -> None:
    answer = live.request("GET", "/raw")
    assert answer.body == b"\xff\xfe"
    assert answer.text == "\ufffd\ufffd"


def test_an_exception_in_the_application_is_a_500_and_logged(
    live: AsgiAdapter, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "uvicorn.error"):
        assert live.request("GET", "/broken").status == 500
        # The answer is sent before the exception is logged.
        live.request("GET", "/echo")
    assert "boom from the application" in caplog.text


def test_many_threads_are_answered_each_with_its_own(live: AsgiAdapter) -> None:
    def ask(number: int) -> str:
        return str(json.loads(live.request("POST", "/echo", json=number).json["body"]))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(100))) == [str(number) for number in range(100)]


def test_names_come_from_the_application_or_the_url() -> None:
    app = application()
    app.title = "acme"  # type: ignore[attr-defined]  # as FastAPI has it
    with AsgiAdapter(app) as titled, AsgiAdapter(application()) as plain, AsgiAdapter(app, name="other") as named:
        assert [titled.name, plain.name, named.name] == ["acme", "Starlette", "other"]
    assert UrlAdapter("http://127.0.0.1:9").name == "http://127.0.0.1:9"


def test_close_stops_the_server_and_its_thread() -> None:
    before = set(threading.enumerate())
    with served(application()) as url:
        port = urlsplit(url).port
        assert port is not None
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
    assert set(threading.enumerate()) <= before


def test_a_closed_adapter_has_no_server() -> None:
    before = set(threading.enumerate())
    AsgiAdapter(application()).close()
    assert set(threading.enumerate()) <= before


def test_the_lifespan_is_run() -> None:
    seen = []

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        seen.append("started")
        yield
        seen.append("stopped")

    with served(application(lifespan=lifespan)) as url:
        assert httpx.get(f"{url}/echo").status_code == 207
        assert seen == ["started"]
    assert seen == ["started", "stopped"]


def test_an_application_that_does_not_start_is_one_clear_error(caplog: pytest.LogCaptureFixture) -> None:
    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        raise RuntimeError("no checkpoint there")
        yield

    with pytest.raises(RuntimeError, match=r"did not start on 127\.0\.0\.1: its startup failed"):
        AsgiAdapter(application(lifespan=lifespan))
    assert "no checkpoint there" in caplog.text


def test_what_is_no_application_is_one_clear_error() -> None:
    with pytest.raises(TypeError, match=r"an ASGI application is called with \(scope, receive, send\); 3 cannot be"):
        AsgiAdapter(3)


def test_a_base_url_with_a_path_is_kept() -> None:
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url))
        return httpx.Response(200, json={})

    with UrlAdapter("http://host.invalid/served/", transport=httpx.MockTransport(answer)) as adapter:
        adapter.request("GET", "/v1/models")
    assert seen == ["http://host.invalid/served/v1/models"]


def test_the_answer_reads_its_own_json() -> None:
    assert Answer(200, {}, b'{"a": 1}').json == {"a": 1}
    assert Answer(200, {}, b"{").json is None
