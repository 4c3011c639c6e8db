"""Defects of what is kept."""

from __future__ import annotations

import html
import struct
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_cases import Value
from contracts.metrics_wire.service_checks.keeping import MARKUP, ODD_NAMES
from contracts.metrics_wire.service_mutants.tampering import Message, Tampering, edited, with_series
from contracts.metrics_wire.sides import service

if TYPE_CHECKING:
    from contracts.metrics_wire.protocols import ServiceAnswer

_KNOWN_SERIES = ("train_loss", "val_loss")
_KNOWN_DETAILS = ("phase", "step", "epoch", "metrics")


@service.mutant("MW-M941a", killed_by="MW-941")
class DropsUnknownSeries(Tampering):
    """keeps the series that it knows and drops the others"""

    def tamper(self, message: Message) -> ServiceAnswer:
        return self.send(
            message.with_series(
                lambda series: {name: points for name, points in series.items() if name in _KNOWN_SERIES}
            )
        )


@service.mutant("MW-M941b", killed_by="MW-941", witness=ODD_NAMES)
class TrimsNames(Tampering):
    """cuts names at 255 letters, as the column of its table does"""

    def tamper(self, message: Message) -> ServiceAnswer:
        return self.send(message.with_series(lambda series: {name[:255]: points for name, points in series.items()}))


def _single(value: float) -> float:
    try:
        single: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return value
    return single


@service.mutant("MW-M942a", killed_by="MW-942", witness=Value("0.1"))
class KeepsSinglePrecision(Tampering):
    """keeps floats in single precision"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        return with_series(answer, lambda _, points: [{**each, "value": _single(each["value"])} for each in points])


@service.mutant("MW-M942b", killed_by="MW-942", witness=Value("7"))
class KeepsFloatsOnly(Tampering):
    """keeps integers as floats"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        return with_series(answer, lambda _, points: [{**each, "value": float(each["value"])} for each in points])


@service.mutant("MW-M942c", killed_by="MW-942", witness=Value("9007199254740993"))
class RoundsLargeIntegers(Tampering):
    """keeps integers as a JavaScript program does, exact up to 2**53"""

    def tamper(self, message: Message) -> ServiceAnswer:
        answer = self.send(message)
        return with_series(
            answer, lambda _, points: [{**each, "value": type(each["value"])(float(each["value"]))} for each in points]
        )


@service.mutant("MW-M943a", killed_by="MW-943")
class DropsUnknownDetails(Tampering):
    """keeps the details that it knows and drops the others"""

    def tamper(self, message: Message) -> ServiceAnswer:
        def drop(task: dict[str, Any]) -> None:
            details = task.get("status_details") or {}
            task["status_details"] = {key: details[key] for key in _KNOWN_DETAILS if key in details}

        answer = self.send(message)
        return edited(answer, drop) if message.is_read else answer


@service.mutant("MW-M943b", killed_by="MW-943", witness=MARKUP)
class EscapesMarkup(Tampering):
    """escapes text for a page before it is stored"""

    def tamper(self, message: Message) -> ServiceAnswer:
        if message.is_update and "error_stack" in message.json:
            return self.send(
                message.with_json({**message.json, "error_stack": html.escape(message.json["error_stack"])})
            )
        return self.send(message)
