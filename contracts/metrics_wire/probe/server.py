"""HTTP on loopback for the probe."""

from __future__ import annotations

import json
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, cast

from contracts.metrics_wire.probe.recorded import Recorded

if TYPE_CHECKING:
    from contracts.metrics_wire.probe.faults import Fault
    from contracts.metrics_wire.probe.service import Probe


class ProbeServer(ThreadingHTTPServer):
    """Listens on 127.0.0.1, one thread a connection.

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

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is the client's affair, or the wish of a fault."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def setup(self) -> None:
        super().setup()
        self.probe = cast("ProbeServer", self.server).probe
        self.probe.connected(self.connection, is_open=True)

    def finish(self) -> None:
        self.probe.connected(self.connection, is_open=False)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name for it
        """Requests are recorded, not printed."""

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        at = time.monotonic()
        fault = self.probe.faults.strike(self.command)
        if fault is not None and fault.kind == "delay":
            time.sleep(fault.seconds)
            fault = None
        status, payload = self._decide(fault, body)
        self.probe.record(Recorded(self.command, self.path, body, status, at))
        if not status:
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def _decide(self, fault: Fault | None, body: bytes) -> tuple[int, bytes]:
        if fault is None:
            status, answer = self.probe.answer(self.command, self.path, body)
            return status, json.dumps(answer).encode()
        if fault.kind == "lose":
            self.probe.answer(self.command, self.path, body)
        if fault.kind in {"drop", "lose"}:
            return 0, b""
        if fault.kind == "garbage":
            return HTTPStatus.OK, b"<html>not the service you are looking for"
        return fault.status, b'{"message": "as armed"}'

    do_GET = do_PUT = do_POST = _serve  # noqa: N815 - the base class's names
