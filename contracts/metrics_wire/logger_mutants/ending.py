"""Defects of the drivers' end, in process and as processes."""

from __future__ import annotations

import sys
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.cases import Kind, Throttled
from contracts.metrics_wire.logger_mutants.tampering import Answer, CallMutant, Line, Message, WireMutant
from contracts.metrics_wire.sides import logger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

#: Runs a command, and kills it where a stop should have been passed on.
_KILLS = """
import signal, subprocess, sys
child = subprocess.Popen(sys.argv[1:])
for signum in (signal.SIGTERM, signal.SIGINT):
    signal.signal(signum, lambda *_: child.kill())
sys.exit(child.wait())
"""


@logger.mutant("MW-M511a", killed_by="MW-511", witness=Throttled(steps=13, validates=False, end="return"))
class NeverCloses(CallMutant):
    """attaches the logger and never closes it"""

    def drive(self, _algorithm: str, train: Callable[[], object], composite: Any, process: Any) -> object:
        """Train."""
        composite.loggers.append(process)
        return train()


@logger.mutant("MW-M511b", killed_by="MW-511", witness=Throttled(steps=13, validates=False, end="exception"))
class ClosesAfterTheTraining(CallMutant):
    """closes the logger after the training instead of in a finally"""

    def drive(self, _algorithm: str, train: Callable[[], object], composite: Any, process: Any) -> object:
        """Train, then close."""
        composite.loggers.append(process)
        result = train()
        process.close()
        return result


@logger.mutant("MW-M511c", killed_by="MW-511", witness=Throttled(steps=13, validates=False, end="interrupt"))
class CatchesExceptionsOnly(CallMutant):
    """closes the logger after exceptions, but not after an interrupt or an exit"""

    def drive(self, _algorithm: str, train: Callable[[], object], composite: Any, process: Any) -> object:
        """Train."""
        composite.loggers.append(process)
        try:
            result = train()
        except Exception:
            process.close()
            raise
        process.close()
        return result


@logger.mutant("MW-M512a", killed_by="MW-512")
class MasksTheRun(CallMutant):
    """raises what the service did in the place of the training's own exception"""

    def drive(self, algorithm: str, train: Callable[[], object], composite: Any, process: Any) -> object:
        """Train."""
        try:
            return self.inner.drive(algorithm, train, composite, process)
        except ValueError as error:
            raise ConnectionError("the service is gone") from error


@logger.mutant("MW-M512b", killed_by="MW-512")
class SwallowsTheRun(CallMutant):
    """swallows the training's own exception"""

    def drive(self, algorithm: str, train: Callable[[], object], composite: Any, process: Any) -> object:
        """Train."""
        try:
            return self.inner.drive(algorithm, train, composite, process)
        except ValueError:
            return None


class _OtherCommand(CallMutant):
    def driver_command(
        self,
        task_url: str,
        schedule: Mapping[str, int | None],
        calls: list[dict[str, Any]],
        folder: Path,
        *,
        algorithm: str = "grpo",
    ) -> list[str]:
        command: list[str] = self.inner.driver_command(
            task_url, self.changed(schedule), calls, folder, algorithm=algorithm
        )
        return self.wrapped(command)

    def changed(self, schedule: Mapping[str, int | None]) -> Mapping[str, int | None]:
        return schedule

    def wrapped(self, command: list[str]) -> list[str]:
        return command


@logger.mutant("MW-M513a", killed_by="MW-513", witness=Kind("SIGTERM"))
class DiesOfSigterm(_OtherCommand):
    """dies of SIGTERM without running its finally"""

    def wrapped(self, command: list[str]) -> list[str]:
        """Kill instead of passing on."""
        return [sys.executable, "-c", _KILLS, *command]


@logger.mutant("MW-M513b", killed_by="MW-513", witness=Kind("SIGINT"))
class DiesOfAnInterrupt(DiesOfSigterm):
    """dies of an interrupt without running its finally"""


@logger.mutant("MW-M514a", killed_by="MW-514")
class WaitsForTheEnd(_OtherCommand):
    """sends what is due at the end of the run only"""

    def changed(self, schedule: Mapping[str, int | None]) -> Mapping[str, int | None]:
        """Let nothing be due."""
        return {**schedule, "val_period": 1_000_000}


@logger.mutant("MW-M514b", killed_by="MW-514")
class SucceedsWithNothing(WireMutant):
    """begins with empty series in the process that takes over"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Find nothing."""
        return Answer(HTTPStatus.NOT_FOUND) if message.method == "GET" else send(message)
