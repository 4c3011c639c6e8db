"""How a defect is seeded into any adapter: in the calls of its loggers, or on the wire between it and the service."""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import threading
import weakref
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from contracts.mutant import Wrapper

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_POLL_S = 0.01
_UPSTREAM_S = 60.0


class TamperedLogger(Wrapper):
    """A logger whose calls are corrupted by overriding them.

    Args:
        inner: The logger underneath.
        mutant: The mutant that seeds the defect; what outlives one process is kept there.
        schedule: The schedule that the logger was started with.
    """

    def __init__(self, inner: Any, mutant: Any, schedule: Mapping[str, int | None]) -> None:
        super().__init__(inner)
        self.mutant = mutant
        self.schedule = schedule

    @property
    def interval(self) -> int:
        """Train steps between two reports."""
        return max(1, (self.schedule["val_period"] or 0) // 10)


class CallMutant(Wrapper):
    """An adapter whose loggers are wrapped.

    Attributes:
        logger_class: What they are wrapped in.
    """

    logger_class: type[TamperedLogger] = TamperedLogger

    def start(
        self, task_url: str, schedule: Mapping[str, int | None], *, rank: int = 0, algorithm: str = "grpo"
    ) -> Any:
        """The logger of a new process, wrapped."""
        return self.logger_class(self.inner.start(task_url, schedule, rank=rank, algorithm=algorithm), self, schedule)


class Silenced(Wrapper):
    """Keeps everyone from saying anything in the log, from its start until it is closed."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        logging.disable(logging.CRITICAL)

    def close(self) -> None:
        """End, in silence."""
        try:
            self.inner.close()
        finally:
            logging.disable(logging.NOTSET)


def per_call(log_metrics: Callable[..., None]) -> type[TamperedLogger]:
    """A wrapped logger with another ``log_metrics(self, metrics, step, prefix, *rest)``."""

    class Tampered(TamperedLogger):
        def log_metrics(self, metrics: Any, step: Any, prefix: str = "", *rest: Any) -> None:
            log_metrics(self, metrics, step, prefix, *rest)

    return Tampered


@dataclass(frozen=True, slots=True)
class Message:
    """A request on its way to the service.

    Attributes:
        method: HTTP method.
        path: Path.
        body: Body.
    """

    method: str
    path: str
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    def with_json(self, value: Any) -> Message:
        """The same request with another body."""
        return replace(self, body=json.dumps(value).encode())

    def with_details(self, change: Callable[[dict[str, Any]], object]) -> Message:
        """The same request with its ``status_details`` changed in place; any but a ``PUT`` stays as it is."""
        if self.method != "PUT":
            return self
        value = self.json
        change(value.setdefault("status_details", {}))
        return self.with_json(value)

    def with_series(self, change: Callable[[dict[str, Any]], object]) -> Message:
        """The same request with the series that it carries, if it does, changed in place."""
        if self.method == "GET":
            return self
        value = self.json
        holder = value if self.method == "POST" else value.get("status_details", {})
        if "metrics" not in holder:
            return self
        change(holder["metrics"])
        return self.with_json(value)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the service answered.

    Attributes:
        status: HTTP status; 0 where the connection ended without an answer.
        body: Body.
    """

    status: int
    body: bytes = b"{}"

    @property
    def is_success(self) -> bool:
        """Whether the request was carried out."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


class Line:
    """The way of one process to the service; called with a request, it passes it on.

    Args:
        upstream: Host and port of the service.

    Attributes:
        memory: What a defect remembers of the process.
    """

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self.memory: dict[str, Any] = {}

    def __call__(self, message: Message) -> Answer:
        """What the service answers."""
        connection = http.client.HTTPConnection(self._upstream, timeout=_UPSTREAM_S)
        try:
            connection.request(message.method, message.path, message.body or None)
            answer = connection.getresponse()
            return Answer(answer.status, answer.read())
        except (OSError, http.client.HTTPException):
            return Answer(0)
        finally:
            connection.close()


class WireMutant(CallMutant):
    """An adapter between which and the service every request passes `tamper`.

    Attributes:
        tampers_training: Whether the requests of loggers and drivers pass.
        tampers_runner: Whether the requests of runners pass.
    """

    tampers_training = True
    tampers_runner = True

    def tamper(self, message: Message, send: Line) -> Answer:
        """Answer a request of one process; ``send`` passes one on."""
        return send(message)

    def start(self, task_url: str, schedule: Mapping[str, int | None], **options: Any) -> Any:
        """The logger of a new process, behind the proxy."""
        return super().start(self._through(task_url) if self.tampers_training else task_url, schedule, **options)

    def runner(self, task_url: str) -> Any:
        """A runner, behind the proxy."""
        return self.inner.runner(self._through(task_url) if self.tampers_runner else task_url)

    def driver_command(
        self,
        task_url: str,
        schedule: Mapping[str, int | None],
        calls: list[dict[str, Any]],
        folder: Path,
        *,
        algorithm: str = "grpo",
    ) -> list[str]:
        """A driver's command line, behind the proxy."""
        url = self._through(task_url) if self.tampers_training else task_url
        command: list[str] = self.inner.driver_command(url, schedule, calls, folder, algorithm=algorithm)
        return command

    def _through(self, task_url: str) -> str:
        parts = urlsplit(task_url)
        proxy = _Proxy(parts.netloc, self)
        weakref.finalize(self, proxy.stop)
        return parts._replace(netloc=f"127.0.0.1:{proxy.server_address[1]}").geturl()


class _Proxy(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, upstream: str, mutant: WireMutant) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._line = Line(upstream)
        # The mutant ends its proxies when it is collected: they must not keep it.
        self._mutant = weakref.ref(mutant)
        threading.Thread(target=self.serve_forever, args=(_POLL_S,), daemon=True, name="tampering").start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()

    def answer(self, message: Message) -> Answer:
        mutant = self._mutant()
        return mutant.tamper(message, self._line) if mutant is not None else Answer(0)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is the client's affair."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name for it
        """Nothing is printed."""

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        answer = cast("_Proxy", self.server).answer(Message(self.command, self.path, body))
        if not answer.status:
            self.close_connection = True
            return
        with contextlib.suppress(OSError):
            self.send_response(answer.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

    do_GET = do_PUT = do_POST = _serve  # noqa: N815 - the base class's names
