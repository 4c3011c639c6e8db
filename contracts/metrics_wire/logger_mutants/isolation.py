"""Defects of the isolation."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.cases import At, Kind
from contracts.metrics_wire.logger_checks.isolation import BLOCKED_BUDGET_S, DEADLINE_SLACK_S
from contracts.metrics_wire.logger_mutants.tampering import (
    Answer,
    CallMutant,
    Message,
    Silenced,
    TamperedLogger,
    WireMutant,
    per_call,
)
from contracts.metrics_wire.services import Service
from contracts.metrics_wire.sides import logger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.metrics_wire.logger_mutants.tampering import Line


def _acknowledging(message: Message, answer: Answer) -> Answer:
    return answer if message.method == "GET" or answer.is_success else Answer(HTTPStatus.OK)


@logger.mutant("MW-M701a", killed_by="MW-701", witness=Kind("503", Service.APPEND))
class DropsWithTheReport(WireMutant):
    """drops the points of a report that failed"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Acknowledge whatever comes of it."""
        return _acknowledging(message, send(message))


@logger.mutant("MW-M701b", killed_by="MW-701", witness=Kind("500"))
class GivesUp(WireMutant):
    """reports nothing more after a failure"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Refuse everything after a failure."""
        if send.memory.get("has_failed"):
            return Answer(HTTPStatus.FORBIDDEN)
        answer = send(message)
        send.memory["has_failed"] = message.method == "PUT" and not answer.is_success
        return answer


@logger.mutant("MW-M701c", killed_by="MW-701", witness=Kind("500"))
class RaisesItsFailures(WireMutant):
    """raises a failure of the service into the loop"""

    class Raising(TamperedLogger):
        """Raises what has failed."""

        def log_metrics(self, *call: Any) -> None:
            """Log, or raise."""
            if self.mutant.has_failed:
                raise ConnectionError("the service answered 500")
            self.inner.log_metrics(*call)

    logger_class = Raising
    has_failed = False

    def tamper(self, message: Message, send: Line) -> Answer:
        """Remember a failure."""
        answer = send(message)
        self.has_failed = self.has_failed or (message.method == "PUT" and not answer.is_success)
        return answer


class _Mute(CallMutant):
    class Silent(Silenced, TamperedLogger):
        """Says nothing."""

    logger_class = Silent


@logger.mutant("MW-M702a", killed_by="MW-702")
class IsSilent(_Mute):
    """swallows a failure without a word"""


def _blocking(seconds: float) -> type[TamperedLogger]:
    def log_metrics(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
        if step == 1:  # at once: two hundred short sleeps of a busy machine are each longer than they were asked to be
            time.sleep(seconds)
        self.inner.log_metrics(metrics, step, prefix, *rest)

    return per_call(log_metrics)


@logger.mutant("MW-M703a", killed_by="MW-703")
class BlocksTheLoop(CallMutant):
    """blocks the loop for twice the budget"""

    logger_class = _blocking(2 * BLOCKED_BUDGET_S)


@logger.control("MW-C703a", tolerated_by="MW-703")
class UsesHalfTheTime(CallMutant):
    """blocks the loop for half the budget"""

    logger_class = _blocking(BLOCKED_BUDGET_S / 2)


@logger.mutant("MW-M704a", killed_by="MW-704")
class ReportsFromEveryRank(CallMutant):
    """reports from every rank"""

    def start(
        self, task_url: str, schedule: Mapping[str, int | None], *, rank: int = 0, algorithm: str = "grpo"
    ) -> Any:
        """As rank 0."""
        del rank
        return super().start(task_url, schedule, rank=0, algorithm=algorithm)


@logger.mutant("MW-M705a", killed_by="MW-705")
class KnowsNoPlaceholder(CallMutant):
    """takes a placeholder for a job"""

    def start(self, task_url: str, schedule: Mapping[str, int | None], **options: Any) -> Any:
        """As a job."""
        job = f"/jobs/{self.inner.placeholder_job}/"
        return super().start(task_url.replace(job, "/jobs/a-real-job/"), schedule, **options)


def _late(seconds: float) -> type[TamperedLogger]:
    class Late(TamperedLogger):
        def close(self) -> None:
            began = time.monotonic()
            self.inner.close()
            spent_s = time.monotonic() - began
            if spent_s > 1:  # only where it had something to wait for: the bench closes again
                time.sleep(max(0.0, self.mutant.close_deadline_s + seconds - spent_s))

    return Late


@logger.mutant("MW-M706a", killed_by="MW-706")
class ClosesLate(CallMutant):
    """closes later than its deadline by twice the slack"""

    logger_class = _late(2 * DEADLINE_SLACK_S)


@logger.control("MW-C706a", tolerated_by="MW-706")
class UsesHalfTheSlack(CallMutant):
    """closes later than its deadline by half the slack"""

    logger_class = _late(DEADLINE_SLACK_S / 2)


@logger.mutant("MW-M706b", killed_by="MW-706")
class LeavesInSilence(_Mute):
    """says nothing of what it left"""


@logger.mutant("MW-M707a", killed_by="MW-707", witness=At(Service.APPEND))
class ForgetsARefusedPayload(WireMutant):
    """forgets the points of a payload that was refused"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Acknowledge whatever comes of it."""
        return _acknowledging(message, send(message))
