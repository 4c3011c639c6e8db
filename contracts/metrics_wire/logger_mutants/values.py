"""Defects of the values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.logger_mutants.tampering import CallMutant, Message, TamperedLogger, WireMutant, per_call
from contracts.metrics_wire.sides import logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.metrics_wire.logger_mutants.tampering import Answer, Line

_KNOWN_NAMES = frozenset({"loss", "lr", "grad_norm", "accuracy"})


def changing(change: Callable[[dict[Any, Any]], dict[Any, Any]]) -> type[TamperedLogger]:
    """A logger that gets another dict."""
    return per_call(
        lambda self, metrics, step, prefix, *rest: self.inner.log_metrics(change(metrics), step, prefix, *rest)
    )


@logger.mutant("MW-M201a", killed_by="MW-201")
class AllowsAList(CallMutant):
    """forwards a list of known names only"""

    logger_class = changing(lambda metrics: {name: metrics[name] for name in metrics if name in _KNOWN_NAMES})


@logger.mutant("MW-M201b", killed_by="MW-201")
class CutsNames(CallMutant):
    """cuts a name at its last slash"""

    logger_class = changing(lambda metrics: {str(name).rpartition("/")[2]: value for name, value in metrics.items()})


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def _all_or_nothing(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    if all(map(_is_number, metrics.values())):
        self.inner.log_metrics(metrics, step, prefix, *rest)


@logger.mutant("MW-M202a", killed_by="MW-202")
class DropsTheDict(CallMutant):
    """drops a dict that holds a value which cannot be charted"""

    logger_class = per_call(_all_or_nothing)


@logger.mutant("MW-M202b", killed_by="MW-202")
class ChartsZero(CallMutant):
    """charts 0 for a value that is none"""

    logger_class = changing(
        lambda metrics: {name: value if _is_number(value) else 0.0 for name, value in metrics.items()}
    )


@logger.mutant("MW-M206a", killed_by="MW-206")
class ConvertsByFloat(CallMutant):
    """converts every integer by float(), which raises for one beyond"""

    logger_class = changing(
        lambda metrics: {name: float(v) if isinstance(v, int) else v for name, v in metrics.items()}
    )


@logger.mutant("MW-M204a", killed_by="MW-204")
class SendsNull(WireMutant):
    """sends null for what was not observed"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Add a null."""
        return send(message.with_details(lambda details: details.setdefault("val_loss", None)))


@logger.mutant("MW-M204b", killed_by="MW-204")
class SendsNan(WireMutant):
    """writes NaN, as Python's json does by default"""

    def tamper(self, message: Message, send: Line) -> Answer:
        """Add a NaN."""
        return send(message.with_details(lambda details: details.update(train_loss=math.nan)))


def _popping(self: TamperedLogger, metrics: Any, step: Any, prefix: str, *rest: Any) -> None:
    self.inner.log_metrics(dict(metrics), step, prefix, *rest)
    metrics.pop("loss", None)


@logger.mutant("MW-M205a", killed_by="MW-205")
class PopsTheLoss(CallMutant):
    """takes the loss out of the caller's dict"""

    logger_class = per_call(_popping)


@logger.mutant("MW-M205b", killed_by="MW-205")
class KeepsTheDict(CallMutant):
    """keeps the caller's dict until it is closed"""

    class Keeping(TamperedLogger):
        """Keeps every call."""

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.calls: list[Any] = []

        def log_metrics(self, *call: Any) -> None:
            """Keep it."""
            self.calls.append(call)

        def close(self) -> None:
            """Make the calls."""
            while self.calls:
                self.inner.log_metrics(*self.calls.pop(0))
            self.inner.close()

    logger_class = Keeping
