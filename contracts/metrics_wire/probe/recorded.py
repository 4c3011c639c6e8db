"""A request that arrived at the probe."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request that arrived.

    Attributes:
        method: HTTP method.
        path: Path of the request.
        body: Bytes of its body.
        status: Status that was answered, 0 where the connection ended without an answer.
        at: Reading of `time.monotonic` when it had arrived.
        lost: Points, as ``series@step``, that were stored before the request and are not any more; looked for only by
            a probe that watches.
    """

    method: str
    path: str
    body: bytes
    status: int
    at: float
    lost: tuple[str, ...] = ()

    @property
    def json(self) -> Any:
        """The body as JSON; ``None`` where it is empty or none."""
        with contextlib.suppress(ValueError):
            return json.loads(self.body)
        return None

    @property
    def is_acknowledged(self) -> bool:
        """Whether the service answered that it was carried out."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES
