"""A server that is started by its own command, for the time of a run."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import httpx

from contracts.http import UrlAdapter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_POLL_S = 0.2
_STOP_S = 20.0
_TAIL = 4000


class Started(UrlAdapter):
    """A server that this adapter starts, such as ``vllm serve MODEL --port {port}``, and stops when it is closed.

    Several may be started before the first is waited for: the command runs from the construction on.

    Args:
        command: Program and arguments. ``{port}`` in an argument becomes a free loopback port.
        ready: Path that is answered 200 once the server is up.
        start_s: Seconds that it may take until then.
        env: Added to this process's environment.
        options: As for `UrlAdapter`.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        ready: str = "/health",
        start_s: float = 300.0,
        env: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        port = _free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._ready = ready
        self._deadline = time.monotonic() + start_s
        self._folder = tempfile.TemporaryDirectory(prefix="contracts-started-")
        self._log = Path(self._folder.name) / "log"
        with self._log.open("ab") as log:
            self._server = subprocess.Popen(  # noqa: S603 - the caller's own command
                [argument.replace("{port}", str(port)) for argument in command],
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # its own processes, an engine's for one, are stopped with it
            )
        super().__init__(self.url, **{"name": Path(command[0]).name, **options})

    def wait(self) -> Self:
        """Wait until the server is up.

        Raises:
            RuntimeError: If it ends or does not come up in time; the message ends with what it wrote.
        """
        while self._server.poll() is None and time.monotonic() < self._deadline:
            try:
                if self.request("GET", self._ready).status == httpx.codes.OK:
                    return self
            except httpx.TransportError:
                pass  # not listening yet
            time.sleep(_POLL_S)
        how = "did not come up in time" if self._server.poll() is None else f"ended with {self._server.returncode}"
        log = self.log[-_TAIL:]
        self.close()
        raise RuntimeError(f"{self.name} {how}; it wrote:\n{log}")

    @property
    def log(self) -> str:
        """What the server has written so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        """Close the connections and stop the server with every process that it started."""
        super().close()
        for sent in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._server.pid, sent)
            except ProcessLookupError:
                break
            try:
                self._server.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                continue
        self._server.wait()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port
