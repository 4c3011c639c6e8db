"""A PostgreSQL of one's own: a private cluster on a free loopback port, gone at the end whatever happened.

``python tests/metrics_wire/processes/postgresql.py -- COMMAND`` runs a command that finds the server's URL in
``CONTRACTS_POSTGRESQL``, and exits as the command did.
"""

from __future__ import annotations

import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

URL_VARIABLE = "CONTRACTS_POSTGRESQL"
MISSING = "PostgreSQL's programs are missing: install Debian's package postgresql, or put initdb and postgres on PATH"

_ROLE = "contracts"
_START_S = 60.0
#: On SIGTERM it would wait for its clients.
_FAST_SHUTDOWN = signal.SIGINT
_STOP_S = 30.0
#: The port was free a moment before; on a busy machine another process may have taken it since.
_ATTEMPTS = 5


def programs() -> Path | None:
    """The folder with ``initdb`` and ``postgres``, the newest of Debian's; ``None`` where there is none."""
    debian = [folder for folder in Path("/usr/lib/postgresql").glob("*/bin") if (folder / "initdb").exists()]
    if debian:
        return max(debian, key=lambda folder: [int(part) for part in re.findall(r"\d+", folder.parent.name)])
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


class PostgreSQL:
    """A server with default durability, whose only role is a superuser with a password.

    Use it as a context manager. The server also ends if this process is killed.

    Attributes:
        url: SQLAlchemy URL of a first, empty database.
    """

    def __init__(self) -> None:
        found = programs()
        if found is None:
            raise FileNotFoundError(MISSING)
        self._programs = found
        self._password = secrets.token_hex(16)
        # The server refuses to run as root, and Debian's package brings a user for it.
        self._user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        self._folder = Path(tempfile.mkdtemp(prefix="contracts-postgresql-"))
        self._server: subprocess.Popen[bytes] | None = None
        self._port = 0
        self._databases = 0

    def __enter__(self) -> Self:
        try:
            self._initialise()
            self._start()
            self.url = self.create_database()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def create_database(self) -> str:
        """SQLAlchemy URL of a new, empty database."""
        self._databases += 1
        name = f"{_ROLE}_{self._databases}"
        address = ["--host=127.0.0.1", f"--port={self._port}", f"--username={_ROLE}", "--no-password"]
        self._run("createdb", *address, name, PGPASSWORD=self._password)
        return f"postgresql+psycopg://{_ROLE}:{self._password}@127.0.0.1:{self._port}/{name}"

    def stop(self) -> None:
        """End the server and remove its folder."""
        if self._server is not None:
            self._server.send_signal(_FAST_SHUTDOWN)
            try:
                self._server.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
        shutil.rmtree(self._folder)

    def _initialise(self) -> None:
        password = self._folder / "password"
        password.write_text(self._password)
        if self._user is not None:
            os.chown(password, self._user.pw_uid, self._user.pw_gid)
            os.chown(self._folder, self._user.pw_uid, self._user.pw_gid)
        self._run(
            "initdb",
            f"--pgdata={self._folder / 'data'}",
            f"--username={_ROLE}",
            "--auth=scram-sha-256",
            f"--pwfile={password}",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
        )

    def _start(self) -> None:
        log = self._folder / "log"
        for _ in range(_ATTEMPTS):
            with socket.create_server(("127.0.0.1", 0)) as free:
                self._port = free.getsockname()[1]
            settings = {
                "listen_addresses": "127.0.0.1",
                "port": self._port,
                "unix_socket_directories": self._folder,
                "max_connections": 200,
            }
            command = [self._programs / "postgres", "-D", self._folder / "data"]
            options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
            with log.open("wb") as output:
                self._server = subprocess.Popen(  # noqa: S603 - Debian's own program
                    [*self._as_its_user(), f"--pdeathsig={_FAST_SHUTDOWN.name}", *command, *options],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=self._folder,
                    start_new_session=True,
                )
            if self._accepts():
                return
        raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text(errors='replace')[-2000:]}")

    def _accepts(self) -> bool:
        """Whether the server takes connections; ``False`` if it ended instead."""
        assert self._server is not None
        ready = [self._programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self._port)]
        deadline = time.monotonic() + _START_S
        while self._server.poll() is None:
            if subprocess.run(ready, check=False).returncode == 0:  # noqa: S603 - Debian's own program
                return True
            if time.monotonic() > deadline:
                raise TimeoutError(f"PostgreSQL took no connections within {_START_S:.0f} s")
            time.sleep(0.05)
        return False

    def _as_its_user(self) -> list[str]:
        if self._user is None:
            return ["setpriv"]
        return ["setpriv", f"--reuid={self._user.pw_uid}", f"--regid={self._user.pw_gid}", "--clear-groups"]

    def _run(self, program: str, *arguments: str, **environment: str) -> None:
        done = subprocess.run(  # noqa: S603 - Debian's own programs
            [*self._as_its_user(), self._programs / program, *arguments],
            env={**os.environ, **environment},
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{program} exited with {done.returncode}: {done.stdout}{done.stderr}")


def main(arguments: list[str]) -> int:
    """Run the command after ``--`` beside a server."""
    if len(arguments) < 2 or arguments[0] != "--":
        sys.stderr.write(f"usage: python {sys.argv[0]} -- COMMAND [ARGUMENT ...]\n")
        return 2
    if programs() is None:
        sys.stderr.write(f"{MISSING}\n")
        return 2
    signal.signal(signal.SIGTERM, lambda signum, _frame: sys.exit(128 + signum))
    with PostgreSQL() as server:
        environment = {**os.environ, URL_VARIABLE: server.url}
        return subprocess.run(arguments[1:], env=environment, check=False).returncode  # noqa: S603 - the caller's own


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
