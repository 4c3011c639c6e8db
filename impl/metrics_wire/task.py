"""The address of a task at the Jobs service."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

_ROUTE = re.compile(
    r"(?P<root>.*)/apis/jobs/v2/workspaces/(?P<workspace>[^/]+)/jobs/(?P<job>[^/]+)"
    r"/steps/(?P<step>[^/]+)/tasks/(?P<task>[^/]+)/?"
)

#: Job ids that stand in a configuration until a real job exists. They are compared in lower case.
PLACEHOLDER_JOBS = frozenset({"none", "null", "unknown", "placeholder", "local", "dummy", "changeme", "todo", "tbd"})
_TEMPLATE = re.compile(r"[<{$%].*|your[-_]?job.*|job[-_]?id", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TaskAddress:
    """Where one task of a job is reported.

    Attributes:
        base_url: Scheme, host, port and any path before ``/apis``, without a closing slash.
        workspace: Workspace id.
        job: Job id.
        step: Id of the job's step.
        task: Id of the step's task.
    """

    base_url: str
    workspace: str
    job: str
    step: str
    task: str

    @classmethod
    def parse(cls, url: str) -> TaskAddress:
        """The address in ``url``.

        Raises:
            ValueError: If it is not the URL of a task.
        """
        try:
            parts = urlsplit(url)
            port_is_readable = parts.port is None or parts.port > 0
        except ValueError as error:
            raise ValueError(f"{url!r} is no task URL: {error}") from None
        found = _ROUTE.fullmatch(parts.path)
        if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_readable or found is None:
            raise ValueError(
                f"{url!r} is no task URL; it must read "
                "http(s)://HOST/apis/jobs/v2/workspaces/WORKSPACE/jobs/JOB/steps/STEP/tasks/TASK"
            )
        ids = {name: unquote(value) for name, value in found.groupdict().items() if name != "root"}
        return cls(base_url=f"{parts.scheme}://{parts.netloc}{found['root']}", **ids)

    @property
    def url(self) -> str:
        """URL of the task."""
        workspace, job, step, task = (quote(part, safe="") for part in (self.workspace, self.job, self.step, self.task))
        return f"{self.base_url}/apis/jobs/v2/workspaces/{workspace}/jobs/{job}/steps/{step}/tasks/{task}"

    @property
    def is_placeholder(self) -> bool:
        """Whether the job id was never filled in: such a run belongs to no job and reports nothing."""
        job = self.job.strip().lower()
        return not job or job in PLACEHOLDER_JOBS or _TEMPLATE.fullmatch(job) is not None
