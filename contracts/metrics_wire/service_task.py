"""One task at a Jobs service: written, appended to, and read as a chart reads it."""

from __future__ import annotations

import json
import uuid
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from contracts.check import Check
    from contracts.metrics_wire.protocols import JobsService, ServiceAnswer

JSON = {"content-type": "application/json"}
FIELDS = ("status", "status_details", "error_details", "error_stack")
#: Series that every chart looks for; a service may show them empty where nobody has written them.
_ALWAYS_SHOWN = ("train_loss", "val_loss")
_SHOWN = 500


def point(step: int, value: float, epoch: int = 1) -> dict[str, Any]:
    """One point of a series."""
    return {"step": step, "epoch": epoch, "value": value}


def task_path(
    task: str = "training", *, job: str | None = None, step: str = "train", workspace: str = "default"
) -> str:
    """Path of a task, each id quoted; of a new job unless one is named."""
    ids = (quote(each, safe="") for each in (workspace, job or f"job-{uuid.uuid4().hex[:12]}", step, task))
    return "/apis/jobs/v2/workspaces/{}/jobs/{}/steps/{}/tasks/{}".format(*ids)


def is_acknowledged(answer: ServiceAnswer) -> bool:
    """Whether the service says that it carried the request out."""
    return HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES


def is_refused(answer: ServiceAnswer) -> bool:
    """Whether the service says that the request is the sender's fault."""
    return HTTPStatus.BAD_REQUEST <= answer.status < HTTPStatus.INTERNAL_SERVER_ERROR


def shown(answer: ServiceAnswer) -> str:
    """The answer as a failure prints it."""
    return f"{answer.status} {answer.body[:_SHOWN].decode(errors='replace')}"


def strict_json(text: bytes) -> Any:
    """What the JSON stands for.

    Raises:
        ValueError: If it is none; NaN and Infinity are none.
    """

    def constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, parse_constant=constant)


class Task:
    """One task; a new one unless a path is given. What must not fail fails the check.

    Args:
        check: The check that looks.
        service: The service.
        path: Path of the task.
        headers: Sent with every request.
    """

    def __init__(
        self,
        check: Check[Any],
        service: JobsService,
        path: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.check = check
        self.service = service
        self.path = path or task_path()
        self.headers = dict(headers or {})

    def send(
        self,
        method: str,
        content: bytes | Iterable[bytes] | None = None,
        *,
        suffix: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> ServiceAnswer:
        """Any request to the task's path, or to one below it."""
        sent = self.headers | dict(headers or {})
        return self.service.request(method, f"{self.path}{suffix}", content=content, headers=sent)

    def put(self, body: Any) -> ServiceAnswer:
        """Try an update."""
        return self.send("PUT", json.dumps(body).encode(), headers=JSON)

    def post(self, metrics: Any) -> ServiceAnswer:
        """Try to append points."""
        return self.send("POST", json.dumps({"metrics": metrics}).encode(), suffix="/metrics", headers=JSON)

    def write(self, **body: Any) -> None:
        """Update the task."""
        self.acknowledged(self.put(body), "an update was not taken", body)

    def append(self, metrics: dict[str, list[dict[str, Any]]]) -> None:
        """Append points."""
        self.acknowledged(self.post(metrics), "an append was not taken", metrics)

    def acknowledged(self, answer: ServiceAnswer, message: str, sent: Any) -> None:
        """Fail the check unless the request was carried out."""
        if not is_acknowledged(answer):
            raise self.check.fail(message, got=shown(answer), want="2xx", sent=sent)

    @property
    def stored(self) -> dict[str, Any] | None:
        """The four fields of the task as a reader sees them, ``None`` where there is none."""
        return self.parsed(self.send("GET"))

    def parsed(self, answer: ServiceAnswer) -> dict[str, Any] | None:
        """What the answer to a read says is stored."""
        if answer.status == HTTPStatus.NOT_FOUND:
            return None
        if answer.status != HTTPStatus.OK:
            raise self.check.fail("a task cannot be read", got=shown(answer), want="200, or 404 where there is none")
        try:
            task = strict_json(answer.body)
        except ValueError as error:
            raise self.check.fail("a task is not read as JSON", got=f"{error}: {shown(answer)}", want="JSON") from None
        if not isinstance(task, dict) or not isinstance(task.get("status_details"), dict | None):
            raise self.check.fail("a task is not read as objects", got=shown(answer), want="an object of objects")
        return unpadded({field: task.get(field) for field in FIELDS})

    @property
    def details(self) -> dict[str, Any]:
        """The stored ``status_details``."""
        return (self.stored or {}).get("status_details") or {}

    @property
    def series(self) -> dict[str, Any]:
        """The stored series by name."""
        metrics = self.details.get("metrics") or {}
        if not isinstance(metrics, dict):
            raise self.check.fail("metrics are no object", got=metrics, want="an object of series")
        return metrics

    def steps(self, name: str) -> dict[int, Any]:
        """The stored values of a series by step; a step that is there twice shows all of its values."""
        values: dict[int, Any] = {}
        for each in self.series.get(name) or ():
            step, value = each.get("step"), each.get("value")
            values[step] = [values[step], value] if step in values else value
        return values

    def hold(self, want: Mapping[str, Any] | None, message: str, **facts: Any) -> None:
        """Fail the check unless these fields of the task are stored, in type as in value; ``None`` means no task."""
        got = self.stored
        if got is not None and want is not None:
            got = {field: got[field] for field in want}
        want = want and unpadded(want)
        if spelled(got) != spelled(want):
            raise self.check.fail(message, got=got, want=want, **facts)

    def hold_series(self, want: Mapping[str, Any], message: str, **facts: Any) -> None:
        """Fail the check unless exactly these series are stored, in type as in value."""
        got, want = self.series, unpadded({"status_details": {"metrics": want}})["status_details"]["metrics"]
        if spelled(got) != spelled(want):
            raise self.check.fail(message, got=got, want=want, **facts)


def unpadded(task: Mapping[str, Any]) -> dict[str, Any]:
    """The task without the empty series that a service may show of its own accord."""
    details: dict[str, Any] = task.get("status_details") or {}
    metrics = details.get("metrics")
    if not isinstance(metrics, dict):
        return dict(task)
    series = {name: points for name, points in metrics.items() if points or name not in _ALWAYS_SHOWN}
    return {**task, "status_details": {**details, "metrics": series}}


def spelled(value: Any) -> str:
    """The value as text that tells ``1`` from ``1.0`` and from ``true``; the order of an object's keys is left out."""
    return json.dumps(value, sort_keys=True)
