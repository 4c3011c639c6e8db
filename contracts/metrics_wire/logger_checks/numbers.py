"""Numbers: which types of a value are one, and that they stay what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.bench import Bench, nothing_raised
from contracts.metrics_wire.cases import Kind
from contracts.metrics_wire.logger_checks.values import SCHEDULE, odd_value
from contracts.metrics_wire.services import Service
from contracts.metrics_wire.sides import logger
from contracts.metrics_wire.sources import loops

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter

NUMBERS = ("int", "float", "float32", "float64", "int64", "0-d array", "0-d int array", "0-d tensor")


@logger.check(
    "MW-203",
    source=loops("values come as numpy scalars, 0-d arrays and 0-d tensors; one key may be int at some steps only"),
    examples=tuple(Kind(kind, list(Service)[index % 4]) for index, kind in enumerate(NUMBERS)),
)
def scalars_become_numbers(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """Integers, floats, and numpy's and tensors' scalars become numbers of their value.

    Why: SFT's only validation metric is a 0-d tensor, and NeMo-RL's own are numpy's.

    Usual cause: isinstance(value, (int, float)), which drops them.
    """
    got, want = _stored_number(check, adapter, case)
    if got != want:
        raise check.fail("a number is stored as something else", got=repr(got), want=repr(want), value=case.kind)


@logger.check(
    "MW-207",
    source=loops("one key may be int at some steps and float at others"),
    requires={"reports_to_service"},
    examples=tuple(Kind(kind, list(Service)[index % 4]) for index, kind in enumerate(NUMBERS)),
)
def integers_stay_integers(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> None:
    """On the wire integers stay integers, and floats floats.

    Why: a count that turns into 128.0 is no count, and 7.0 that turns into 7 is no loss.

    Usual cause: float(value) for everything.
    """
    got, want = _stored_number(check, adapter, case)
    if got is not None and type(got) is not type(want):
        raise check.fail("a number has another type", got=repr(got), want=repr(want), value=case.kind)


def _stored_number(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: Kind) -> tuple[Any, float | int]:
    """What is stored of a number at step 1, and what should be."""
    value = odd_value(case.kind)
    with Bench(adapter, case.service) as bench:
        process = bench.process(SCHEDULE)
        with nothing_raised(check, value=case.kind):
            process.log_metrics({"loss": 0.5, "value": value}, 1, "train")
            process.log_metrics({"loss": 0.5, "value": 2.5}, 2, "train")
            process.close()
        return bench.values("train_value").get(1), {"float": 7.0}.get(case.kind, 7 if "int" in case.kind else 0.5)
