"""Loggers that do more than they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from contracts.metrics_wire.logger_mutants.tampering import CallMutant, Line, Message, TamperedLogger
from contracts.metrics_wire.sides import logger

if TYPE_CHECKING:
    from collections.abc import Mapping


@logger.mutant("MW-M811a", killed_by="MW-811")
class ReportsUndeclared(CallMutant):
    """reports to the service without declaring it"""

    class Reporting(TamperedLogger):
        """Sends a report when it is closed."""

        def close(self) -> None:
            """Close, and report."""
            self.inner.close()
            self.mutant.report()

    logger_class = Reporting

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.task_url = ""

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset(self.inner.capabilities) - {"reports_to_service"}

    def stored(self, task_url: str) -> Mapping[str, Any]:
        """Nothing: what it stores is not asked for."""
        del task_url
        return {}

    def start(self, task_url: str, schedule: Mapping[str, int | None], **options: Any) -> Any:
        """Remember the task."""
        self.task_url = task_url
        return super().start(task_url, schedule, **options)

    def report(self) -> None:
        """Send a report."""
        parts = urlsplit(self.task_url)
        Line(parts.netloc)(Message("PUT", parts.path, b'{"status": "active"}'))
