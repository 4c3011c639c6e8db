"""HTTP on loopback for the probe."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, cast

from contracts.metrics_wire.probe.recorded import Recorded

if TYPE_CHECKING:
    from contracts.metrics_wire.probe.faults import Fault
    from contracts.metrics_wire.probe.service import Probe

_POLL_S = 0.01


class ProbeServer(ThreadingHTTPServer):
    """Listens on 127.0.0.1 from its construction on, one thread a connection.

    Args:
        port: Where; 0 for any free port.
        probe: Whose requests they are.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, port: int, probe: Probe) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.probe = probe
        self.is_cut = False
        self.lock = threading.Lock()
        self.connections: set[socket.socket] = set()
        self._thread = threading.Thread(target=self.serve_forever, args=(_POLL_S,), daemon=True, name="probe")
        self._thread.start()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.server_address[1])

    @property
    def base_url(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """From now on nothing that comes through this port reaches the service, and nothing is recorded.

        Every request is answered as if it had, so that what is left of the process behind it comes to its end.
        """
        self.is_cut = True

    def stop(self) -> None:
        """Close the port and every connection, as a killed process does."""
        self.shutdown()
        self._thread.join()
        self.server_close()
        with self.lock:
            connections = tuple(self.connections)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is the client's affair, or the wish of a fault."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def setup(self) -> None:
        super().setup()
        self.owner = cast("ProbeServer", self.server)
        self.probe = self.owner.probe
        with self.owner.lock:
            self.owner.connections.add(self.connection)

    def finish(self) -> None:
        with self.owner.lock:
            self.owner.connections.discard(self.connection)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name for it
        """Requests are recorded, not printed."""

    def _serve(self) -> None:
        body = self._body()
        if self.owner.is_cut:
            self._answer(HTTPStatus.OK, b"{}")
            return
        at = time.monotonic()
        fault = self.probe.faults.strike(self.command)
        if fault is not None and fault.kind == "delay":
            time.sleep(fault.seconds)
            fault = None
        status, payload, lost = self._decide(fault, body)
        self.probe.record(Recorded(self.command, self.path, body, status, at, lost))
        if not status:
            self.close_connection = True
            return
        self._answer(status, payload)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        body = b""
        while length := int(self.rfile.readline().partition(b";")[0], 16):
            body += self.rfile.read(length)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return body

    def _answer(self, status: int, payload: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def _decide(self, fault: Fault | None, body: bytes) -> tuple[int, bytes, tuple[str, ...]]:
        if fault is None:
            status, answer, lost = self.probe.carry_out(self.command, self.path, body)
            return status, json.dumps(answer).encode(), lost
        if fault.kind == "lose":
            return 0, b"", self.probe.carry_out(self.command, self.path, body)[2]
        if fault.kind == "drop":
            return 0, b"", ()
        if fault.kind == "garbage":
            return HTTPStatus.OK, b"<html>not the service you are looking for", ()
        return fault.status, b'{"message": "as armed"}', ()

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815 - the base class's names
