"""An update that a service finds too large with its series: the status arrives, and the curves stay."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from impl.metrics_wire.appending import Points, append_all, size_of
from impl.metrics_wire.client import JobsClient, RequestRefusedError, ServiceError, encoded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from impl.metrics_wire.series import Point

_LOG = logging.getLogger(__name__)


def is_too_large(refused: RequestRefusedError) -> bool:
    """Whether a request was refused for its size alone."""
    return refused.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def write_without_series(
    client: JobsClient, update: Mapping[str, Any], stored: Mapping[str, Sequence[Point]], *, patience_s: float
) -> bool:
    """Write an update that is too large with the series that are stored, so that these stay where that is possible.

    Where the service appends, they are appended, which makes them outlive the update, and once more after it, for a
    service that drops them nevertheless. Where it does not, an update of ``status_details`` might cost them: the
    stored ones are left as they are.

    Args:
        client: The task.
        update: The update, without those series in its ``status_details``.
        stored: The series that are stored.
        patience_s: Seconds for which an unavailable service is tried again, for each request.

    Returns:
        Whether all of the update was delivered and every series is stored. If not, the log says what is missing.

    Raises:
        ServiceError: If not even the status was delivered; what is stored has not changed.
    """
    points = {name: {point.step: encoded(point._asdict()) for point in series} for name, series in stored.items()}
    limit = max(size_of(points) // 2, 1)  # as a whole they are too much
    appends = _try_to_append(client, points, limit, patience_s)
    sent = {name: value for name, value in update.items() if appends or name != "status_details"}
    # A stack has lines of any length; whatever else is too large, the status never is.
    without_stack = {name: value for name, value in sent.items() if name != "error_stack"}
    tried = [sent, *([without_stack] if "error_stack" in sent else []), {"status": update["status"]}]
    delivered = _write_first_that_fits(client, tried, patience_s)
    left_out = sorted(update.keys() - delivered.keys())
    if left_out:
        _LOG.error("status %r was delivered without %s, too large for the service", update["status"], left_out)
    if appends and "status_details" in delivered:
        try:
            append_all(client, points, limit=limit, patience_s=patience_s)
        except ServiceError as error:
            _LOG.error("status %r was delivered, series %s may be lost: %s", update["status"], sorted(points), error)
            return False
    return not left_out


def _try_to_append(client: JobsClient, points: Points, limit: int, patience_s: float) -> bool:
    try:
        append_all(client, points, limit=limit, patience_s=patience_s)
    except RequestRefusedError as refused:
        _LOG.warning("the series cannot be appended, the stored status_details are left as they are: %s", refused)
        return False
    return True


def _write_first_that_fits(
    client: JobsClient, updates: Sequence[Mapping[str, Any]], patience_s: float
) -> Mapping[str, Any]:
    *larger, smallest = updates
    for update in larger:
        try:
            client.write(encoded(update), patience_s=patience_s)
        except RequestRefusedError as refused:
            if not is_too_large(refused):
                raise
        else:
            return update
    client.write(encoded(smallest), patience_s=patience_s)
    return smallest
