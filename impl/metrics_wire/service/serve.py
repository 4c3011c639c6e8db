"""Runs the service until it is told to stop."""

from __future__ import annotations

import signal
import socket
import sys
from typing import TYPE_CHECKING

import uvicorn

from impl.metrics_wire.service.app import create_app

if TYPE_CHECKING:
    from impl.metrics_wire.service.settings import Settings

_GRACE_S = 5
#: A logger reports every few seconds; a connection that ends just then costs it an attempt.
_IDLE_S = 75


class AddressError(Exception):
    """The address cannot be listened on."""


class _Server(uvicorn.Server):
    """Says where it listens, once it does."""

    def __init__(self, config: uvicorn.Config, url: str) -> None:
        super().__init__(config)
        self._url = url

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            sys.stdout.write(f"{self._url}\n")
            sys.stdout.flush()


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until SIGTERM or SIGINT; the URL is printed once requests are answered.

    Args:
        settings: The service.
        host: Address to listen on.
        port: Port to listen on, 0 for a free one.

    Raises:
        DatabaseError: If the database cannot be used.
        AddressError: If the address cannot be listened on.
    """
    listening = _listen(host, port)
    with listening:
        app = create_app(settings)
        name = f"[{host}]" if ":" in host else host
        url = f"http://{name}:{listening.getsockname()[1]}"
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, timeout_graceful_shutdown=_GRACE_S, timeout_keep_alive=_IDLE_S
        )
        # The server raises the signal that has stopped it anew, for whoever started it: here that is nobody.
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: None)
        _Server(config, url).run([listening])


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise AddressError(f"cannot listen on {host}: {error.strerror or error}") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise AddressError(f"cannot listen on {host}:{port}: {error.strerror}") from None
    return listening
