"""What the probe accepts: strict JSON, known fields of known types, finite numbers, and never a null."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

STATUSES = frozenset(
    "created pending active cancelled cancelling error completed paused pausing resuming".split()  # noqa: SIM905 - as the service lists them
)

_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
TASK_PATH = re.compile(rf"/apis/jobs/v2/workspaces/{_ID}/jobs/{_ID}/steps/{_ID}/tasks/{_ID}")

_UPDATE_FIELDS = frozenset({"status", "status_details", "error_details", "error_stack"})
_POINT_FIELDS = frozenset({"step", "epoch", "value"})
_MAX_NAME = 512
_MAX_STEP = 2**53 - 1
_MAX_DEPTH = 32


class Rejected(Exception):  # noqa: N818 - it is an answer, not an error
    """A request that gets a 4xx and changes nothing."""


def parsed(body: bytes) -> dict[str, Any]:
    """The JSON object in ``body``.

    Raises:
        Rejected: If it is none, or not strict JSON.
    """

    def constant(name: str) -> NoReturn:
        raise Rejected(f"body: {name} is not JSON")

    try:
        value = json.loads(body, parse_constant=constant)
    except ValueError as error:
        raise Rejected(f"body: {error}") from None
    except RecursionError:
        raise Rejected("body: nested too deeply") from None
    if not isinstance(value, dict):
        raise Rejected("body: must be an object")
    return value


def check_update(body: dict[str, Any]) -> None:
    """Accept the body of a ``PUT``.

    Raises:
        Rejected: If it is malformed; the message names the field.
    """
    _fields("body", body, _UPDATE_FIELDS)
    status = body.get("status", "pending")
    if not isinstance(status, str) or status not in STATUSES:
        raise Rejected(f"status: {status!r:.40} is unknown")
    details = body.get("status_details", {})
    if not isinstance(details, dict):
        raise Rejected("status_details: must be an object")
    _no_null("status_details", details)
    if "metrics" in details:
        _series("status_details.metrics", details["metrics"])
    if not isinstance(body.get("error_stack", ""), str):
        raise Rejected("error_stack: must be a string")
    if not isinstance(body.get("error_details", {}), dict):
        raise Rejected("error_details: must be an object")


def check_append(body: dict[str, Any]) -> None:
    """Accept the body of a ``POST``, as `check_update`."""
    _fields("body", body, frozenset({"metrics"}))
    if "metrics" not in body:
        raise Rejected("metrics: is missing")
    _series("metrics", body["metrics"])


def _series(where: str, metrics: object) -> None:
    if not isinstance(metrics, dict):
        raise Rejected(f"{where}: must be an object")
    for name, points in metrics.items():
        if not 1 <= len(name) <= _MAX_NAME:
            raise Rejected(f"{where}: a name has 1 to {_MAX_NAME} letters")
        if not isinstance(points, list):
            raise Rejected(f"{where}.{name}: must be an array")
        for point in points:
            _point(f"{where}.{name}", point)


def _point(where: str, point: object) -> None:
    if not isinstance(point, dict) or point.keys() != _POINT_FIELDS:
        raise Rejected(f"{where}: a point has step, epoch and value, got {point!r}")
    for field, least in (("step", 0), ("epoch", 1)):
        if type(point[field]) is not int or not least <= point[field] <= _MAX_STEP:
            raise Rejected(f"{where}.{field}: must be an integer from {least}, got {point[field]!r:.40}")
    if type(point["value"]) not in {int, float} or not _is_finite(point["value"]):
        raise Rejected(f"{where}.value: must be a finite number, got {point['value']!r:.40}")


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _no_null(where: str, value: object, depth: int = 1) -> None:
    if depth > _MAX_DEPTH:
        raise Rejected(f"{where[:200]}: nested too deeply")
    if value is None:
        raise Rejected(f"{where}: must not be null")
    if isinstance(value, float) and not _is_finite(value):
        raise Rejected(f"{where}: must be finite")
    if isinstance(value, dict):
        for name, inner in value.items():
            _no_null(f"{where}.{name}", inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _no_null(where, inner, depth + 1)


def _fields(where: str, body: dict[str, Any], known: frozenset[str]) -> None:
    if unknown := body.keys() - known:
        raise Rejected(f"{where}: unknown field {min(unknown)!r}")
