"""The reference service behind the protocol of the Jobs service's contract: a process that can be killed."""

from __future__ import annotations

import importlib.metadata
import os
import select
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Environment variable with the URL of the PostgreSQL database that `postgresql` uses.
DATABASE_VARIABLE = "CONTRACTS_POSTGRESQL"

_MAX_BODY = 1 << 20
_START_S = 60.0
_ANSWER_S = 30.0
_TOKEN = "s3cret-Token"  # noqa: S105 - of services that live as long as a run of the contract


@dataclass(frozen=True, slots=True)
class Answer:
    """What the service answered.

    Attributes:
        status: HTTP status; 0 where the connection failed, or ended without an answer.
        headers: Header names in lower case.
        body: The whole body.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class ServiceAdapter:
    """Runs ``jobs-service serve`` as a process on loopback, from entering the block to its end.

    Args:
        update_rule: What an update does to the stored ``status_details``.
        database: URL of the database; by default a new SQLite file, which is deleted at the end.
        token: Token of the service, empty for none.

    Attributes:
        name: Name of the implementation.
        version: Its version.
        capabilities: What it can do.
        update_rule: What an update does to the stored ``status_details``.
        keeps_appended: Appended points are no part of what an update has sent, and outlive it.
        max_body: Bytes of the longest body that is taken.
        token: Its token, empty if it has none.
        base_url: Scheme, host and port; the same after a restart.
        database: URL of its database, while it is open.
    """

    version = importlib.metadata.version("rl-contracts")
    capabilities = frozenset({"append", "restart", "token", "openapi", "body_limit"})
    keeps_appended = True
    max_body = _MAX_BODY

    def __init__(self, update_rule: Literal["replace", "merge"], database: str | None = None, token: str = "") -> None:
        self.update_rule = update_rule
        self.token = token
        self.base_url = ""
        backend = (database or "sqlite").partition(":")[0].partition("+")[0]
        self.name = f"reference ({backend}, {update_rule})"
        self._given = database
        self.database = ""
        self._held = ExitStack()
        self._log = Path()
        self._process: subprocess.Popen[str] | None = None
        self._client = httpx.Client()
        self._guarded: ServiceAdapter | None = None

    def __enter__(self) -> Self:
        folder = Path(self._held.enter_context(tempfile.TemporaryDirectory(prefix="jobs-service-")))
        self.database = self._given or f"sqlite:///{folder / 'jobs.sqlite'}"
        self._log = folder / "stderr"
        self.restart()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        content: bytes | Iterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request and read the whole answer. May be called from several threads at once."""
        try:
            answer = self._client.request(method, f"{self.base_url}{path}", content=content, headers=headers)
        except httpx.TransportError:
            return Answer(0, {}, b"")
        return Answer(answer.status_code, {key.lower(): value for key, value in answer.headers.items()}, answer.content)

    def kill(self) -> None:
        """End the process with SIGKILL; it is gone when this returns."""
        if self._process is None:
            return
        self._process.kill()
        self._process.communicate()
        self._process = None

    def restart(self) -> None:
        """Start the process on the storage that is there; it takes requests when this returns.

        Raises:
            RuntimeError: If it does not start; the message has what it wrote.
        """
        port = self.base_url.rpartition(":")[2] or "0"
        command = [sys.executable, "-m", "impl.metrics_wire.service", "serve", "--database", self.database]
        command += ["--port", port, "--rule", self.update_rule, "--max-body", str(self.max_body)]
        if setpriv := shutil.which("setpriv"):
            # The service ends with this process, also where that is killed.
            command = [setpriv, "--pdeathsig=KILL", *command]
        environment = os.environ | {"JOBS_SERVICE_TOKEN": self.token}
        with self._log.open("a") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
            )
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        ready, _, _ = select.select([self._process.stdout], [], [], _START_S)
        url = self._process.stdout.readline().strip() if ready else ""
        if not url:
            self.kill()
            raise RuntimeError(f"jobs-service did not start within {_START_S:g} s: {self._log.read_text().strip()}")
        self.base_url = url
        # The connections of the old one lead to the process that is gone.
        self._client.close()
        self._client = httpx.Client(timeout=_ANSWER_S, trust_env=False)

    def guarded(self) -> ServiceAdapter:
        """The same service with a token; it ends with this one."""
        if self._guarded is None:
            self._guarded = self._held.enter_context(ServiceAdapter(self.update_rule, self._given, _TOKEN))
        return self._guarded

    def close(self) -> None:
        """End the process, and delete what it stored in a file."""
        self.kill()
        self._client.close()
        self._held.close()


def service() -> tuple[ServiceAdapter, ...]:
    """The reference on SQLite, by either rule: the adapters for the contract's command line."""
    return ServiceAdapter("replace"), ServiceAdapter("merge")


def postgresql() -> tuple[ServiceAdapter, ...]:
    """The reference on PostgreSQL, by either rule, in the database that ``CONTRACTS_POSTGRESQL`` names.

    Raises:
        RuntimeError: If it names none.
    """
    database = os.environ.get(DATABASE_VARIABLE)
    if not database:
        raise RuntimeError(f"set {DATABASE_VARIABLE} to postgresql://USER:PASSWORD@HOST:PORT/NAME")
    return ServiceAdapter("replace", database), ServiceAdapter("merge", database)
