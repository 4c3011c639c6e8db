"""The probe itself: a real HTTP server on loopback that records every request."""

from __future__ import annotations

import contextlib
import threading
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Self

from contracts.metrics_wire.probe.acceptance import TASK_PATH, Rejected, check_append, check_update, parsed
from contracts.metrics_wire.probe.faults import Faults
from contracts.metrics_wire.probe.server import ProbeServer
from contracts.metrics_wire.probe.tasks import Semantics, TaskStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts.metrics_wire.probe.recorded import Recorded

_APPEND = "/metrics"


class Probe:
    """A Jobs service on a free port of 127.0.0.1, from entering the block to its end.

    Args:
        semantics: What an update does to the stored ``status_details``.
        append: Whether it has ``POST .../metrics``.
        keeps_appended: Whether appended series survive an update without ``metrics``, where updates replace.
        max_body: Bytes beyond which a request is answered 413, ``None`` for any.
        watch: Whether it looks at every write for stored points that it makes vanish.

    Attributes:
        faults: What goes wrong; arm it at any time.
        tasks: What is stored.
        max_body: As given. A smaller one counts from then on, as where a proxy was put before the service.
    """

    def __init__(
        self,
        semantics: Semantics = Semantics.REPLACE,
        *,
        append: bool = True,
        keeps_appended: bool = True,
        max_body: int | None = None,
        watch: bool = False,
    ) -> None:
        self.faults = Faults()
        self.tasks = TaskStore(semantics, keeps_appended=keeps_appended)
        self._append = append
        self.max_body = max_body
        self._watch = watch
        self._lock = threading.Lock()
        self._write = threading.Lock()
        self._requests: list[Recorded] = []
        self._server: ProbeServer | None = None
        self._port = 0

    def __enter__(self) -> Self:
        self.come_back()
        return self

    def __exit__(self, *_: object) -> None:
        self.die()

    @property
    def base_url(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def requests(self) -> tuple[Recorded, ...]:
        """Every request so far, in the order of arrival."""
        with self._lock:
            return tuple(self._requests)

    def task_url(self, task: str = "training", *, job: str = "job-1", base_url: str | None = None) -> str:
        """URL of a task; any valid id will do.

        Args:
            task: Id of the task.
            job: Id of its job.
            base_url: The door, by default the service's own.
        """
        return f"{base_url or self.base_url}{_task_path(task, job)}"

    def stored(self, task: str = "training", *, job: str = "job-1") -> dict[str, Any] | None:
        """What a reader of the task sees; ``None`` if nobody has written it."""
        return self.tasks.read(_task_path(task, job))

    def preset(self, task: str = "training", *, job: str = "job-1", **fields: Any) -> None:
        """Store a task as some other writer left it, well-formed or not: ``details``, ``status``, ``error_details``."""
        self.tasks.preset(_task_path(task, job), **fields)

    def die(self) -> None:
        """Close the port and every connection, as a killed process does. What was stored stays stored."""
        if self._server is not None:
            self._server.stop()
            self._server = None

    def come_back(self) -> None:
        """Listen, on the same port as before; nothing if it does so already."""
        if self._server is not None:
            return
        self._server = ProbeServer(self._port, self)
        self._port = self._server.port

    @contextlib.contextmanager
    def another_door(self) -> Iterator[ProbeServer]:
        """The same service on one more port, for one process of the client. It is shut at the end of the block.

        To `cut` it is what the service sees when that process is killed.
        """
        server = ProbeServer(0, self)
        try:
            yield server
        finally:
            server.stop()

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        """Carry a request out; status and JSON of the answer."""
        # Read once: a check may change it while a request is under way.
        max_body = self.max_body
        if max_body is not None and len(body) > max_body:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"message": f"body: more than {max_body} bytes"}
        task_path = path.removesuffix(_APPEND) if method == "POST" else path
        if TASK_PATH.fullmatch(task_path) is None:
            return HTTPStatus.NOT_FOUND, {"message": f"path: {path} is no task"}
        try:
            return self._carry_out(method, task_path, body, is_append=task_path != path)
        except Rejected as rejected:
            return HTTPStatus.UNPROCESSABLE_ENTITY, {"message": str(rejected)}

    def _carry_out(self, method: str, task_path: str, body: bytes, *, is_append: bool) -> tuple[int, Any]:
        if method == "POST":
            if not (self._append and is_append):
                return HTTPStatus.NOT_FOUND, {"message": "no such route"}
            update = parsed(body)
            check_append(update)
            if not self.tasks.append(task_path, update["metrics"]):
                return HTTPStatus.NOT_FOUND, {"message": "no such task"}
            return HTTPStatus.OK, {"message": "appended"}
        if method == "PUT":
            update = parsed(body)
            check_update(update)
            self.tasks.update(task_path, update)
            return HTTPStatus.OK, {"message": "updated"}
        if method != "GET":
            return HTTPStatus.METHOD_NOT_ALLOWED, {"message": f"method: {method} is none of a task's"}
        task = self.tasks.read(task_path)
        return (HTTPStatus.NOT_FOUND, {"message": "no such task"}) if task is None else (HTTPStatus.OK, task)

    def carry_out(self, method: str, path: str, body: bytes) -> tuple[int, Any, tuple[str, ...]]:
        """`answer`, and which stored points the request made vanish, if the probe watches."""
        if not self._watch or method == "GET":
            return *self.answer(method, path, body), ()
        with self._write:
            before = self._points(path.removesuffix(_APPEND))
            status, answer = self.answer(method, path, body)
            return status, answer, tuple(sorted(before - self._points(path.removesuffix(_APPEND))))

    def _points(self, task_path: str) -> set[str]:
        metrics = ((self.tasks.read(task_path) or {}).get("status_details") or {}).get("metrics")
        series = metrics.items() if isinstance(metrics, dict) else ()
        return {
            f"{name}@{point['step']}"
            for name, points in series
            if isinstance(points, list)
            for point in points
            if isinstance(point, dict) and "step" in point
        }

    def record(self, request: Recorded) -> None:
        """Keep a request."""
        with self._lock:
            self._requests.append(request)


def _task_path(task: str, job: str) -> str:
    return f"/apis/jobs/v2/workspaces/default/jobs/{job}/steps/train/tasks/{task}"
