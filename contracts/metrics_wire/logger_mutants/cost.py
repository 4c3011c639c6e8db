"""Defects of the cost, and what the budgets must tolerate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from contracts.metrics_wire.logger_checks.cost import APPEND_BUDGET, WHOLE_BUDGET
from contracts.metrics_wire.logger_mutants.tampering import Line, Message, TamperedLogger, WireMutant
from contracts.metrics_wire.sides import logger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.metrics_wire.logger_mutants.tampering import Answer


class _Wasteful(WireMutant):
    """Brings the cost of a run to ``factor`` times its final details, at its end, if it is less."""

    factor: float

    class Wasting(TamperedLogger):
        """Wastes when it is closed."""

        def close(self) -> None:
            """Close, and send once more what was sent."""
            self.inner.close()
            self.mutant.waste()

    logger_class = Wasting

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.sent = 0
        self.last: Message | None = None
        self.upstream: Line | None = None

    def start(self, task_url: str, schedule: Mapping[str, int | None], **options: Any) -> Any:
        """Remember the way to the service."""
        self.upstream = Line(urlsplit(task_url).netloc)
        return super().start(task_url, schedule, **options)

    def tamper(self, message: Message, send: Line) -> Answer:
        """Count."""
        self.sent += len(message.body)
        if message.method == "PUT":
            self.last = message
        return send(message)

    def waste(self) -> None:
        """Send the last update until it has cost enough."""
        if self.last is None or self.upstream is None:
            return
        task = json.loads(self.upstream(Message("GET", self.last.path, b"")).body)
        final = len(json.dumps(task["status_details"], separators=(",", ":")))
        # Blanks around JSON are JSON: the update stays what it was.
        missing = int(self.factor * final) - self.sent
        padding = b" " * max(0, missing - len(self.last.body))
        self.upstream(Message("PUT", self.last.path, self.last.body + padding))
        self.last = None


@logger.mutant("MW-M801a", killed_by="MW-801")
class CostsTwiceTheWhole(_Wasteful):
    """sends twice the budget of whole series"""

    factor = 2 * WHOLE_BUDGET


@logger.control("MW-C801a", tolerated_by="MW-801")
class CostsHalfTheWhole(_Wasteful):
    """sends half the budget of whole series"""

    factor = WHOLE_BUDGET / 2


@logger.mutant("MW-M802a", killed_by="MW-802")
class CostsTwiceTheAppend(_Wasteful):
    """sends twice the budget of appended points"""

    factor = 2 * APPEND_BUDGET


@logger.control("MW-C802a", tolerated_by="MW-802")
class CostsHalfTheAppend(_Wasteful):
    """sends half the budget of appended points"""

    factor = APPEND_BUDGET / 2
