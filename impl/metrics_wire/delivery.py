"""How a report reaches the service: appended where the service can, as whole series where it cannot."""

from __future__ import annotations

import logging
from enum import Enum, auto
from typing import TYPE_CHECKING

from impl.metrics_wire.appending import APPEND_BYTES, encoded_points, pieces_of, size_of, smaller_limit
from impl.metrics_wire.client import JobsClient, RequestRefusedError, encoded
from impl.metrics_wire.series import LOSS_SERIES

if TYPE_CHECKING:
    from impl.metrics_wire.state import RunState

_LOG = logging.getLogger(__name__)

#: Whole series may cost this many times the present series, in all, before a routine report waits until they have
#: grown. With one more for the report itself, two for the urgent ones and one for the last, a run stays within
#: 12 times its final series.
ROUTINE_BUDGET = 8
URGENT_BUDGET = 10

_NO_SUCH_ROUTE = frozenset({404, 405, 501})

_NOTHING_YET = encoded({name: [] for name in LOSS_SERIES})


class _Way(Enum):
    UNTRIED = auto()
    APPEND = auto()
    WHOLE = auto()


class Delivery:
    """Brings the state of one run to the service. Used by one thread at a time.

    Nothing is written before the service has told what it has stored: a report would overwrite it. Whether the service
    can append is found out by trying, with every point there is, those of an earlier process too: from then on no
    update carries the series, and a service that replaces ``status_details`` keeps only what was appended.

    Args:
        client: The task at the service.
        state: What to deliver.
    """

    def __init__(self, client: JobsClient, state: RunState) -> None:
        self._client = client
        self._state = state
        self._way = _Way.UNTRIED
        self._task_exists = False
        self._has_taken_over = False
        self._append_is_proved = False
        self._must_restore = False
        self._append_bytes = APPEND_BYTES
        self._whole_bytes = 0

    def deliver(self, *, urgent: bool, final: bool, patience_s: float) -> bool:
        """Deliver the newest state and every point that the service does not have.

        Args:
            urgent: Whether the report tells more than that training goes on.
            final: Whether it is the last one: it is sent at any cost.
            patience_s: Seconds for which an unavailable service is tried again, for each request.

        Returns:
            Whether it was delivered; ``False`` if it has to wait until the series have grown.

        Raises:
            ServiceUnavailableError: If the service could not be reached; nothing is lost, try again later.
            RequestRefusedError: If it refused the report; nothing is lost either.
        """
        if not self._has_taken_over:
            stored = self._client.read(patience_s=patience_s)
            self._state.take_over(stored)
            self._task_exists = stored.exists
            self._has_taken_over = True
        has_points = len(self._state.series) > 0
        if not self._task_exists:
            self._client.write(self._update(_NOTHING_YET), patience_s=patience_s)
            self._task_exists = True
            if not has_points:
                return True
        if self._way is _Way.UNTRIED and has_points:
            self._state.series.unacknowledge()
            self._append_unsent(patience_s)
        elif self._way is _Way.APPEND:
            self._append_unsent(patience_s)
        if self._way is _Way.APPEND:
            acknowledged = {} if self._append_is_proved else self._state.series.acknowledged_steps()
            self._client.write(self._update(), patience_s=patience_s)
            if not self._append_is_proved:
                self._prove_append(acknowledged, patience_s)
        if self._way is not _Way.APPEND:
            if not (final or self._must_restore or self._within_budget(URGENT_BUDGET if urgent else ROUTINE_BUDGET)):
                return False
            self._send_whole(patience_s)
        return True

    def _prove_append(self, acknowledged: dict[str, frozenset[int]], patience_s: float) -> None:
        """Look once whether the service has kept the series in an update without them.

        A service that replaces the whole of ``status_details`` may drop what was appended. Then the series, which are
        all known here, are restored at once, and whole series are sent from then on.
        """
        stored = self._client.read(patience_s=patience_s).metrics
        for name, steps in acknowledged.items():
            if name not in stored or steps - {point.step for point in stored[name]}:
                _LOG.warning("the service does not keep what it appends, whole series are sent instead: %s", name)
                self._way, self._must_restore = _Way.WHOLE, True
                return
        self._append_is_proved = True

    def _append_unsent(self, patience_s: float) -> None:
        waiting = list(pieces_of(self._state.series.take_unsent(), self._append_bytes))
        try:
            while waiting:
                try:
                    self._client.append(encoded_points(waiting[0]), patience_s=patience_s)
                except RequestRefusedError as refused:
                    smaller = smaller_limit(waiting[0], refused)
                    if smaller is not None:
                        self._append_bytes = smaller
                        waiting[:1] = pieces_of(waiting[0], smaller)
                    else:
                        # For good: an append that is refused once more would keep back every update behind it.
                        is_news = self._way is _Way.APPEND and refused.status_code not in _NO_SUCH_ROUTE
                        _LOG.log(
                            logging.WARNING if is_news else logging.INFO,
                            "the service does not append, whole series are sent instead: %s",
                            refused,
                        )
                        self._way, self._must_restore = _Way.WHOLE, is_news
                        self._whole_bytes += size_of(waiting[0])
                        return
                else:
                    self._way = _Way.APPEND
                    del waiting[0]
        finally:
            self._state.series.settle(*waiting)

    def _send_whole(self, patience_s: float) -> None:
        failed = [self._state.series.take_unsent()]
        sent_before = self._client.bytes_sent
        try:
            self._client.write(self._update(self._state.series.encoded()), patience_s=patience_s)
            failed.clear()
        finally:
            self._state.series.settle(*failed)
            self._whole_bytes += self._client.bytes_sent - sent_before
        self._must_restore = False

    def _within_budget(self, budget: int) -> bool:
        present = self._state.series.size + len(encoded(self._state.snapshot()))
        return self._whole_bytes <= budget * present

    def _update(self, series: str | None = None) -> str:
        details = encoded(self._state.snapshot())
        if series is not None:
            details = f'{details[:-1]},"metrics":{series}}}'
        return f'{{"status":"active","status_details":{details}}}'
