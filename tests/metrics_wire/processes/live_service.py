"""The reference Jobs service on a loopback port of this process, and one of its tasks as a client sees it."""

from __future__ import annotations

import json
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx

from contracts.http import served
from impl.metrics_wire.service.app import create_app
from impl.metrics_wire.service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TASK = "/apis/jobs/v2/workspaces/research/jobs/{job}/steps/train/tasks/main"
JOBS = "/apis/jobs/v2/jobs"
JSON = {"content-type": "application/json"}


def point(step: int, value: float, epoch: int = 1) -> dict[str, Any]:
    return {"step": step, "epoch": epoch, "value": value}


class LiveService:
    """One service, and the ways to a task of it.

    Attributes:
        url: Its base URL.
        http: What reaches it; it carries the token.
        job: The job whose task it is, unless a call names another.
    """

    def __init__(self, url: str, http: httpx.Client, job: str = "job-1") -> None:
        self.url = url
        self.http = http
        self.job = job

    def of_new_job(self) -> LiveService:
        return LiveService(self.url, self.http, f"job-{uuid.uuid4().hex[:8]}")

    def path(self, job: str | None = None) -> str:
        return TASK.format(job=job or self.job)

    def send(
        self,
        method: str,
        content: bytes | Iterable[bytes],
        *,
        suffix: str = "",
        job: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        return self.http.request(
            method, self.path(job) + suffix, content=content, headers=JSON if headers is None else headers
        )

    def put(self, body: Any, job: str | None = None) -> dict[str, Any]:
        answer = self.send("PUT", json.dumps(body).encode(), job=job)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def append(self, metrics: Any, job: str | None = None) -> int:
        answer = self.send("POST", json.dumps({"metrics": metrics}).encode(), suffix="/metrics", job=job)
        assert answer.status_code == 200, answer.text
        return answer.json()["revision"]

    def get(self, job: str | None = None, *, if_none_match: str = "") -> httpx.Response:
        return self.http.get(self.path(job), headers={"if-none-match": if_none_match} if if_none_match else {})

    def stored(self, job: str | None = None) -> dict[str, Any]:
        return self.get(job).json()

    def series(self, job: str | None = None) -> dict[str, list[tuple[int, Any]]]:
        metrics = self.stored(job)["status_details"]["metrics"]
        return {name: [(each["step"], each["value"]) for each in points] for name, points in metrics.items()}


@contextmanager
def live(database: str, **settings: Any) -> Iterator[LiveService]:
    """The service over a database, until the end of the block."""
    token = settings.get("token")
    headers = {b"authorization": f"Bearer {token}".encode()} if token else {}
    with (
        served(create_app(Settings(database, **settings))) as url,
        httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False) as http,
    ):
        yield LiveService(url, http)
