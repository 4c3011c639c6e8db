"""How a defect is seeded into any Jobs service: in the requests that reach it, and in what it answers."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_task import JSON, is_acknowledged
from contracts.mutant import Wrapper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from contracts.metrics_wire.protocols import ServiceAnswer

#: Seconds for which one request waits for another that comes at the same time. Wide: the machine may be busy, and the
#: witnesses leave none alone.
_MEETING_S = 5.0


@dataclass(frozen=True, slots=True)
class Forged:
    """An answer that the service did not give."""

    status: int
    body: bytes = b'{"message": "done"}'
    headers: Mapping[str, str] = field(default_factory=lambda: JSON)


FAILED = Forged(500, b'{"message": "internal server error"}')
HTML = {"content-type": "text/html"}


@dataclass(frozen=True, slots=True)
class Message:
    """A request on its way to the service.

    Attributes:
        method: HTTP method.
        path: Path and query.
        body: Body, ``None`` without one.
        headers: Headers.
        is_chunked: Whether the body came in chunks.
    """

    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_chunked: bool = False

    @property
    def task(self) -> str:
        """Path of the task that it is about."""
        return self.path.removesuffix("/metrics")

    @property
    def is_append(self) -> bool:
        """Whether it appends points."""
        return self.method == "POST" and self.path.endswith("/metrics")

    @property
    def is_update(self) -> bool:
        """Whether it updates a task."""
        return self.method == "PUT"

    @property
    def is_read(self) -> bool:
        """Whether it reads a task."""
        return self.method == "GET" and "/tasks/" in self.path

    @property
    def json(self) -> dict[str, Any]:
        """The object in the body, empty where there is none."""
        return object_in(self.body)

    @property
    def series(self) -> dict[str, Any]:
        """The series that it carries, by name."""
        holder = self.json if self.is_append else self.json.get("status_details")
        metrics = holder.get("metrics") if isinstance(holder, dict) else None
        return metrics if isinstance(metrics, dict) else {}

    def with_json(self, value: Any) -> Message:
        """The same request with another body."""
        return replace(self, body=json.dumps(value).encode())

    def with_series(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Message:
        """The same request with the series that it carries, if it does, changed."""
        if not self.series:
            return self
        body = self.json
        (body if self.is_append else body["status_details"])["metrics"] = change(self.series)
        return self.with_json(body)


def object_in(body: bytes | None) -> dict[str, Any]:
    """The JSON object in a body, empty where there is none."""
    try:
        value = json.loads(body or b"")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


class Tampering(Wrapper):
    """Every request passes `tamper`, those to the guarded service too.

    Attributes:
        restarts: How often the service was started again.
    """

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.restarts = 0
        self._guarded: Tampering | None = None

    def request(
        self,
        method: str,
        path: str,
        *,
        content: bytes | Iterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ServiceAnswer:
        """Let the request pass `tamper`."""
        is_chunked = content is not None and not isinstance(content, bytes)
        body = content if content is None or isinstance(content, bytes) else b"".join(content)
        return self.tamper(Message(method, path, body, dict(headers or {}), is_chunked))

    def restart(self) -> None:
        """Start the service again."""
        self.restarts += 1
        self.inner.restart()

    def guarded(self) -> Tampering:
        """The guarded service, wrapped."""
        if self._guarded is None:
            self._guarded = type(self)(self.inner.guarded())
        return self._guarded

    def tamper(self, message: Message) -> ServiceAnswer:
        """Answer a request; ``send`` passes one on."""
        return self.send(message)

    def send(self, message: Message) -> ServiceAnswer:
        """What the service answers."""
        body = message.body
        chunked = message.is_chunked and body is not None
        answer: ServiceAnswer = self.inner.request(
            message.method,
            message.path,
            content=iter([body]) if chunked else body,
            headers=message.headers,
        )
        return answer

    def read(self, message: Message) -> dict[str, Any]:
        """What is stored of the task that the request is about, empty if nothing is."""
        answer = self.send(Message("GET", message.task, headers=_credentials(message)))
        return object_in(answer.body) if is_acknowledged(answer) else {}

    def write(self, message: Message, body: Mapping[str, Any]) -> ServiceAnswer:
        """Update the task that the request is about."""
        text = json.dumps(body).encode()
        return self.send(Message("PUT", message.task, text, {**_credentials(message), **JSON}))

    def append(self, message: Message, metrics: Mapping[str, Any]) -> ServiceAnswer:
        """Append to the task that the request is about."""
        text = json.dumps({"metrics": metrics}).encode()
        return self.send(Message("POST", f"{message.task}/metrics", text, {**_credentials(message), **JSON}))


def _credentials(message: Message) -> dict[str, str]:
    return {name: value for name, value in message.headers.items() if name.lower() == "authorization"}


def edited(answer: ServiceAnswer, edit: Callable[[dict[str, Any]], object]) -> ServiceAnswer:
    """The same success with its JSON object changed in place; any other answer as it is."""
    document = object_in(answer.body) if is_acknowledged(answer) else {}
    if not document:
        return answer
    edit(document)
    return Forged(answer.status, json.dumps(document).encode(), answer.headers)


def with_series(
    answer: ServiceAnswer, edit: Callable[[str, list[dict[str, Any]]], list[dict[str, Any]]]
) -> ServiceAnswer:
    """The same read of a task, with the points of each series exchanged."""

    def change(task: dict[str, Any]) -> None:
        details = task.get("status_details")
        metrics: dict[str, Any] = (details.get("metrics") if isinstance(details, dict) else None) or {}
        for name, points in metrics.items():
            metrics[name] = edit(name, points)

    return edited(answer, change)


class Meeting:
    """Where requests that come at the same time wait for each other, two by two."""

    def __init__(self) -> None:
        self._arrived = 0
        self._condition = threading.Condition()

    def wait(self) -> None:
        """Wait for another request, but not for long."""
        with self._condition:
            self._arrived += 1
            mine = self._arrived
            if mine % 2 == 0:
                self._condition.notify_all()
            elif not self._condition.wait_for(lambda: self._arrived > mine, _MEETING_S):
                self._arrived -= 1
