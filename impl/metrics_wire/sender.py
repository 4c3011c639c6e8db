"""Reports leave the training thread at once: another one delivers the newest state, and the last one before it ends."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import queue
import threading
import time
from typing import TYPE_CHECKING

from impl.metrics_wire.client import ServiceError

if TYPE_CHECKING:
    from impl.metrics_wire.client import JobsClient
    from impl.metrics_wire.delivery import Delivery
    from impl.metrics_wire.series import SeriesStore

_LOG = logging.getLogger(__name__)

#: Seconds of a delivery before it fails and leaves the newest state to the next one.
_PATIENCE_S = 2.0
#: Seconds between two deliveries that a loop without pause asks for.
_GAP_S = 0.1
#: Seconds after a failed delivery, doubled with each further one up to the second figure.
_RETRY_S, _RETRY_MAX_S = 0.5, 30.0
#: Waiting points are few if the last step was long ago; after this many seconds they go though nobody asked.
DEFAULT_FRESHNESS_S = 15.0
#: Seconds that `ReportSender.close` may take: less than the 30 that a cluster leaves between SIGTERM and SIGKILL.
DEFAULT_CLOSE_DEADLINE_S = 20.0


class ReportSender:
    """Delivers from a thread of its own. There is no queue of reports: the newest state is the only one that waits.

    Args:
        delivery: How a report reaches the service.
        client: Its connections are closed at the end.
        series: The points, for the count of what is left.
        freshness_s: Seconds after which points are delivered though no report was asked for.
        close_deadline_s: Seconds that `close` may take.
    """

    def __init__(
        self,
        delivery: Delivery,
        client: JobsClient,
        series: SeriesStore,
        *,
        freshness_s: float = DEFAULT_FRESHNESS_S,
        close_deadline_s: float = DEFAULT_CLOSE_DEADLINE_S,
    ) -> None:
        self._delivery = delivery
        self._client = client
        self._series = series
        self._freshness_s = freshness_s
        self._close_deadline_s = close_deadline_s
        # An Event would lock a signal handler out that closes while the same thread is in `ask`.
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._asked = False
        self._urgent = False
        self._changed = False
        self._close_by: float | None = None
        self._is_closed = False
        self._last_error: Exception | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.RLock()
        self._pid = os.getpid()

    def change(self) -> None:
        """Say that the state has changed; it is delivered with the next report, or when it has waited long enough."""
        if self._is_closed or self._pid != os.getpid():
            return
        self._changed = True
        if self._thread is None:
            self._start()

    def _start(self) -> None:
        with self._starting:
            if self._thread is not None:  # two threads have logged for the first time at once
                return
            # No signal may end up in it, and it must not keep a process alive whose loop forgot to close.
            self._thread = threading.Thread(target=self._work, name="metrics-sender", daemon=True)
            self._thread.start()
            atexit.register(self.close)

    def ask(self, *, urgent: bool = False) -> None:
        """Ask for a report of the newest state. Never waits.

        Args:
            urgent: Whether it tells more than that training goes on.
        """
        self.change()
        self._urgent = self._urgent or urgent
        self._asked = True
        self._wake.put(None)

    def close(self) -> bool:
        """Deliver what is left, for `close_deadline_s` at most; whether everything was delivered."""
        if self._is_closed:
            return not (self._changed or (self._thread and self._thread.is_alive()))
        self._is_closed = True
        # A forked child has the object but not the thread, and what is left is its parent's to deliver.
        if self._thread is None or self._pid != os.getpid():
            return True
        atexit.unregister(self.close)
        self._client.deadline = self._close_by = time.monotonic() + self._close_deadline_s
        self._wake.put(None)
        if threading.current_thread() is self._thread:  # garbage was collected there; it goes on to the end afterwards
            return False
        self._thread.join(self._close_deadline_s)
        if self._thread.is_alive() or self._changed:
            _LOG.error(
                "closed with %d points and the last report not delivered within %g s: %s",
                self._series.unsent_count,
                self._close_deadline_s,
                self._last_error or "the service did not answer in time",
            )
            return False
        return True

    def _work(self) -> None:
        failures = 0
        try:
            while self._close_by is None or (self._changed and time.monotonic() < self._close_by):
                if not failures and not self._asked and self._close_by is None:
                    self._sleep(self._freshness_s)
                if self._changed:
                    failures = 0 if self._deliver() else failures + 1
                self._pause(failures)
        finally:
            self._client.deadline = None
            self._client.close()

    def _deliver(self) -> bool:
        # The marks go before the delivery starts: what changes while it runs is not in it, or not surely.
        urgent, self._urgent, self._asked, self._changed = self._urgent, False, False, False
        is_delivered = False
        try:
            is_delivered = self._delivery.deliver(
                urgent=urgent, final=self._close_by is not None, patience_s=_PATIENCE_S
            )
        except ServiceError as error:
            _LOG.warning("a report was not delivered, the next one will bring its points: %s", error)
            self._last_error = error
            return False
        except Exception as error:  # noqa: BLE001 - one report that goes wrong must not end those that follow
            _LOG.exception("a report failed, the next one will bring its points")
            self._last_error = error
            return False
        finally:
            if not is_delivered:
                self._changed, self._urgent = True, self._urgent or urgent
        return True

    def _pause(self, failures: int) -> None:
        """Wait before the next delivery, but not once the run is closing and nothing has failed."""
        if self._close_by is not None:
            if failures:
                time.sleep(min(_RETRY_S, max(self._close_by - time.monotonic(), 0)))
            return
        pause_s = min(_RETRY_S * 2 ** (failures - 1), _RETRY_MAX_S) if failures else _GAP_S
        end = time.monotonic() + pause_s
        while not self._is_closed and (left_s := end - time.monotonic()) > 0:
            self._sleep(left_s)

    def _sleep(self, seconds: float) -> None:
        """Wait until something is asked for, ``seconds`` at most; whatever was asked until now is heard with it."""
        with contextlib.suppress(queue.Empty):
            self._wake.get(timeout=seconds)
            while True:
                self._wake.get_nowait()
