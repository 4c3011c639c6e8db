"""Defects of the persistence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.logger_mutants.tampering import (
    CallMutant,
    Message,
    TamperedLogger,
    WireMutant,
)
from contracts.metrics_wire.sides import logger

if TYPE_CHECKING:
    from contracts.metrics_wire.logger_mutants.tampering import Answer, Line

_EMPTY: dict[str, list[Any]] = {"train_loss": [], "val_loss": []}
_EVENTS = frozenset({"epoch_end", "checkpoint_saved"})


@logger.mutant("MW-M601a", killed_by="MW-601")
class BlanksWithAnEvent(WireMutant):
    """reports an event without the series"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Drop the series of an event."""

        def change(details: dict[str, Any]) -> None:
            if details.get("phase") in _EVENTS:
                details["metrics"] = _EMPTY

        return send(message.with_details(change))


@logger.mutant("MW-M601b", killed_by="MW-601")
class KeepsEventsQuiet(CallMutant):
    """does not report an epoch's end"""

    class Quiet(TamperedLogger):
        """Says nothing."""

        def epoch_end(self, step: int) -> None:
            """Nothing."""

    logger_class = Quiet


@logger.mutant("MW-M602a", killed_by="MW-602")
class BlanksAtTheStart(WireMutant):
    """reports the start of a process without what an earlier one has stored"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Blank the first report of each process."""
        is_first = message.method == "PUT" and not send.memory.setdefault("has_begun", False)
        if is_first:
            send.memory["has_begun"] = True
            message = message.with_details(lambda details: details.update(metrics=_EMPTY))
        return send(message)


@logger.mutant("MW-M602b", killed_by="MW-602")
class SendsTheCurrentStepOnly(WireMutant):
    """sends the last point of each series only"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Cut the series."""

        def change(series: dict[str, list[Any]]) -> None:
            for name, points in series.items():
                series[name] = points[-1:]

        return send(message.with_series(change))


@logger.mutant("MW-M603a", killed_by="MW-603")
class ReadsBeforeItWrites(WireMutant):
    """reads what is stored before every update"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Read first."""
        if message.method == "PUT":
            send(Message("GET", message.path, b""))
        return send(message)


@logger.mutant("MW-M604a", killed_by="MW-604")
class OverwritesThePath(CallMutant):
    """overwrites the checkpoint's path where there is none"""

    class Overwriting(TamperedLogger):
        """Always has a path."""

        def checkpoint_saved(self, step: int, path: str | None) -> None:
            """Report whatever there is."""
            self.inner.checkpoint_saved(step, path or "unknown")

    logger_class = Overwriting


@logger.mutant("MW-M604b", killed_by="MW-604")
class ForgetsThePath(WireMutant):
    """leaves the checkpoint's path out of the reports of train steps"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Drop the path."""

        def change(details: dict[str, Any]) -> None:
            if details.get("phase") not in _EVENTS:
                details.pop("checkpoint_path", None)

        return send(message.with_details(change))
