"""Defects that need more than one request."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from contracts.gym_overflow.endpoint_mutants.forging import error
from contracts.gym_overflow.endpoint_mutants.tampering import TamperingWithRefusals
from contracts.gym_overflow.protocols import EndpointWrapper
from contracts.gym_overflow.sides import endpoint

if TYPE_CHECKING:
    from contracts.answer import Answer


@endpoint.mutant("GO-M131a", killed_by="GO-131")
class TiresOfRefusing(TamperingWithRefusals):
    """answers the second overflow with 503"""

    overflows = 0

    def refused(self, _path: str, _body: dict[str, Any], answer: Answer) -> Answer:
        self.overflows += 1
        return error(503, "busy") if self.overflows > 1 else answer


@endpoint.mutant("GO-M132a", killed_by="GO-132")
class ServesOneAtATime(EndpointWrapper):
    """answers 503 while another request is being served"""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._serving = threading.Lock()

    def request(self, method: str, path: str, **sent: Any) -> Answer:
        if not self._serving.acquire(blocking=False):
            return error(503, "busy")
        try:
            # Long enough for the other threads of the check to arrive.
            time.sleep(0.01)
            return super().request(method, path, **sent)
        finally:
            self._serving.release()
