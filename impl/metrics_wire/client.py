"""Requests to the Jobs service, each with a timeout, retried while the service is away, and with one of two errors."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import stamina

from impl.metrics_wire.stored import StoredTask, stored_task

if TYPE_CHECKING:
    from impl.metrics_wire.task import TaskAddress

_NOT_FOUND = 404
_RETRY_LATER = frozenset({408, 425, 429})
#: The service will never do this, whatever is tried again.
_NOT_IMPLEMENTED = 501
#: A timeout of zero would mean none at all.
_SHORTEST_S = 0.05


class ServiceError(Exception):
    """A request that the service did not carry out."""


class ServiceUnavailableError(ServiceError):
    """No usable answer: refused connection, timeout, 5xx, too many requests, a body that is not the service's."""


class RequestRefusedError(ServiceError):
    """The service answered that it will not do this.

    Attributes:
        status_code: The HTTP status.
    """

    def __init__(self, message: str, status_code: int) -> None:
        super().__init__(message)
        self.status_code = status_code


class JobsClient:
    """One task at the Jobs service. Safe between threads.

    Args:
        address: The task.
        transport: What carries the requests, by default the network.
        timeout_s: Seconds after which a silent connection, read or write counts as failed.
        token: Bearer token, where the service asks for one.

    Attributes:
        bytes_sent: Bytes of request bodies that were sent so far, repeated attempts included.
        deadline: Reading of `time.monotonic` after which nothing is waited for any more, ``None`` while there is none.
    """

    def __init__(
        self,
        address: TaskAddress,
        *,
        transport: httpx.BaseTransport | None = None,
        timeout_s: float = 10.0,
        token: str | None = None,
    ) -> None:
        self._headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
        self._transport = transport
        # Certificates take longer to load than everything else here, and a plain connection has none to verify.
        self._is_encrypted = address.base_url.startswith("https:")
        self._lock = threading.Lock()
        self._http: httpx.Client | None = None
        self._url = address.url
        self._timeout_s = timeout_s
        self.bytes_sent = 0
        self.deadline: float | None = None

    def read(self, *, patience_s: float) -> StoredTask:
        """The task as it is stored.

        Args:
            patience_s: Seconds for which an unavailable service is tried again.

        Raises:
            ServiceUnavailableError: If nothing is known of what is stored.
            RequestRefusedError: If the service refuses to tell.
        """
        try:
            answer = self._request("GET", self._url, None, patience_s)
        except RequestRefusedError as refused:
            if refused.status_code == _NOT_FOUND:
                return stored_task(None)
            raise
        try:
            body = answer.json()
        except ValueError:
            raise ServiceUnavailableError(f"GET {self._url} answered {answer.status_code} with no JSON") from None
        if not isinstance(body, dict):  # not the service's: taken for an empty task, it would cost what is stored
            raise ServiceUnavailableError(f"GET {self._url} answered {answer.status_code} with no JSON object")
        return stored_task(body)

    def write(self, body: str, *, patience_s: float) -> None:
        """Create or update the task with the JSON object ``body``; errors as `read`."""
        self._request("PUT", self._url, body.encode(), patience_s)

    def append(self, series: str, *, patience_s: float) -> None:
        """Add points: ``series`` is the JSON object ``{series: [point, ...]}``; errors as `read`."""
        self._request("POST", f"{self._url}/metrics", f'{{"metrics":{series}}}'.encode(), patience_s)

    def close(self) -> None:
        """Close the connections; a request that comes later opens them anew."""
        with self._lock:
            http, self._http = self._http, None
        if http is not None:
            http.close()

    def _request(self, method: str, url: str, content: bytes | None, patience_s: float) -> httpx.Response:
        for attempt in stamina.retry_context(
            on=ServiceUnavailableError,
            attempts=None,
            timeout=self._at_most(patience_s),
            wait_initial=0.1,
            wait_max=2.0,
            wait_jitter=0.1,
        ):
            with attempt:
                return self._once(method, url, content)
        raise AssertionError("stamina ends by raising the last error")

    def _opened(self) -> httpx.Client:
        with self._lock:
            if self._http is None:
                self._http = httpx.Client(
                    transport=self._transport,
                    verify=self._is_encrypted,
                    timeout=self._timeout_s,
                    headers=self._headers,
                )
            return self._http

    def _at_most(self, seconds: float) -> float:
        if self.deadline is None:
            return seconds
        return max(min(seconds, self.deadline - time.monotonic()), _SHORTEST_S)

    def _once(self, method: str, url: str, content: bytes | None) -> httpx.Response:
        try:
            answer = self._opened().request(method, url, content=content, timeout=self._at_most(self._timeout_s))
        except httpx.RequestError as error:
            raise ServiceUnavailableError(f"{method} {url}: {type(error).__name__}: {error}") from error
        finally:
            self.bytes_sent += len(content or b"")
        if answer.is_success:
            return answer
        message = f"{method} {url} answered {answer.status_code}: {answer.text[:200]!r}"
        status = answer.status_code
        if status in _RETRY_LATER or (answer.is_server_error and status != _NOT_IMPLEMENTED):
            raise ServiceUnavailableError(message)
        raise RequestRefusedError(message, status)


def encoded(value: Any) -> str:
    """``value`` as compact, strict JSON.

    Raises:
        ValueError: If it holds NaN or an infinity.
    """
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
