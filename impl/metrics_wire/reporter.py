"""Direct reports of a task's state, for a process that does not train: every update keeps the stored series."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

from impl.metrics_wire.client import JobsClient, RequestRefusedError, ServiceError, encoded
from impl.metrics_wire.oversize import is_too_large, write_without_series
from impl.metrics_wire.series import LOSS_SERIES, Point
from impl.metrics_wire.task import TaskAddress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import httpx

_LOG = logging.getLogger(__name__)

#: URL of the task that a process reports, and the bearer token for it where the service asks for one.
TASK_URL_VARIABLE = "NEMO_JOBS_TASK_URL"
TOKEN_VARIABLE = "NEMO_JOBS_TOKEN"  # noqa: S105 - the name of the variable, not a token
#: Rank of a process among those of a run, as torchrun sets it; only rank 0 reports.
RANK_VARIABLE = "RANK"

_Metrics = dict[str, list[Point]]


class JobsServiceProgressReporter:
    """Reports one task of a job.

    An update that does not carry ``metrics`` reads what is stored and sends it along, so that the curves survive a
    service that replaces ``status_details``. Nothing else is carried over: the rest is a snapshot of its moment. After
    a failed read nothing is written, for it might overwrite what could not be read. Where the service finds the update
    too large with them, it goes without them, as `write_without_series` says.

    Args:
        task_url: URL of the task, ``.../workspaces/{ws}/jobs/{job}/steps/{step}/tasks/{task}``.
        rank: Rank of this process; only rank 0 reports.
        transport: What carries the requests, by default the network.
        timeout_s: Seconds after which a silent connection, read or write counts as failed.
        patience_s: Seconds for which an update is tried while the service is away.
        token: Bearer token, where the service asks for one.

    Attributes:
        client: The task at the service.
        enabled: Whether this process reports at all: it is rank 0 and the job id is no placeholder.

    Raises:
        ValueError: If ``task_url`` is no URL of a task.
    """

    def __init__(
        self,
        task_url: str,
        *,
        rank: int = 0,
        transport: httpx.BaseTransport | None = None,
        timeout_s: float = 10.0,
        patience_s: float = 30.0,
        token: str | None = None,
    ) -> None:
        address = TaskAddress.parse(task_url)
        self.client = JobsClient(address, transport=transport, timeout_s=timeout_s, token=token)
        self.enabled = rank == 0 and not address.is_placeholder
        self._patience_s = patience_s
        if rank == 0 and address.is_placeholder:
            _LOG.warning("job id %r is a placeholder: progress is not reported", address.job)

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] | None = None, *, transport: httpx.BaseTransport | None = None
    ) -> JobsServiceProgressReporter:
        """The reporter of the task that the environment names.

        Args:
            environment: Variables, by default those of the process.
            transport: What carries the requests, by default the network.

        Raises:
            ValueError: If a variable is missing or cannot be read; it names the variable.
        """
        variables = os.environ if environment is None else environment
        task_url = variables.get(TASK_URL_VARIABLE, "")
        if not task_url:
            raise ValueError(f"the environment variable {TASK_URL_VARIABLE} is missing: set it to the URL of the task")
        rank = variables.get(RANK_VARIABLE, "0")
        if not rank.isdecimal():
            raise ValueError(f"the environment variable {RANK_VARIABLE} must be a rank, 0 or more, got {rank!r}")
        try:
            return cls(task_url, rank=int(rank), transport=transport, token=variables.get(TOKEN_VARIABLE) or None)
        except ValueError as error:
            raise ValueError(f"the environment variable {TASK_URL_VARIABLE} cannot be used: {error}") from None

    def report_running(self, phase: str, **details: Any) -> bool:
        """Report that the task is active, in ``phase``; whether the update was delivered."""
        return self.update_task("active", status_details={**details, "phase": phase})

    def report_completed(self, message: str = "Training completed") -> bool:
        """Report that the task is completed; whether the update was delivered."""
        return self.update_task("completed", status_details={"phase": "completed", "message": message})

    def report_error(self, message: str, *, error_stack: str | None = None, **error_details: Any) -> bool:
        """Report that the task failed; whether the update was delivered."""
        return self.update_task(
            "error",
            status_details={"message": message},
            error_details={**error_details, "message": message},
            error_stack=error_stack,
        )

    def update_task(
        self,
        status: str,
        *,
        status_details: Mapping[str, Any] | None = None,
        error_details: Mapping[str, Any] | None = None,
        error_stack: str | None = None,
    ) -> bool:
        """Create or update the task. Never raises for what the service does.

        Args:
            status: Always stated: a service may take a missing one for ``pending``.
            status_details: Snapshot; without ``metrics`` the stored series are sent along. Entries that are ``None``
                are left out.
            error_details: What failed; left out if ``None``.
            error_stack: Where it failed; left out if ``None``.

        Returns:
            Whether the update was delivered. If not, the log says why.
        """
        if not self.enabled:
            return False
        details = _observed(status_details or {})
        update = _observed({"error_details": error_details, "error_stack": error_stack})
        try:
            if "metrics" not in details:
                return self._write_with_stored_series({"status": status, "status_details": details, **update})
            body = encoded({"status": status, "status_details": details, **update})
            self.client.write(body, patience_s=self._patience_s)
        except (ServiceError, ValueError, TypeError) as error:
            _LOG.error("status %r of the task was not delivered: %s", status, error)
            return False
        return True

    def _write_with_stored_series(self, update: dict[str, Any]) -> bool:
        stored = self.fetch_current_metrics()
        details = {**update["status_details"], "metrics": _on_the_wire(stored)}
        body = encoded({**update, "status_details": details})
        try:
            self.client.write(body, patience_s=self._patience_s)
        except RequestRefusedError as refused:
            if not is_too_large(refused):
                raise
            _LOG.warning("status %r is too large with the stored series: %s", update["status"], refused)
            if not any(stored.values()):
                update["status_details"] = details
            return write_without_series(self.client, update, stored, patience_s=self._patience_s)
        return True

    def fetch_current_metrics(self) -> _Metrics:
        """Every stored point, by series; empty if nothing is stored.

        Raises:
            ServiceError: If the read failed: then it is not known what is stored.
        """
        return self.client.read(patience_s=self._patience_s).metrics

    def close(self) -> None:
        """Close the connections."""
        self.client.close()


def _observed(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entries.items() if value is not None}


def _on_the_wire(metrics: Mapping[str, Sequence[Point]]) -> dict[str, list[dict[str, Any]]]:
    empty: dict[str, Sequence[Point]] = dict.fromkeys(LOSS_SERIES, ())
    return {name: [point._asdict() for point in points] for name, points in {**empty, **metrics}.items()}
