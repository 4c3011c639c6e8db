"""MW-811: what is not declared is absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.level import Level
from contracts.metrics_wire.bench import Bench
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.services import Service
from contracts.metrics_wire.sides import CAPABILITIES, logger
from contracts.metrics_wire.sources import DECLARED

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter

#: What is sent shows the one and the other; the rest is called by nobody who does not find it declared.
SENT = ("reports_to_service", "append")


@logger.check("MW-811", level=Level.SHOULD, source=DECLARED, examples=SENT)
def what_is_not_declared_is_not_sent(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: str) -> None:
    """A logger that does not declare that it reports, or that it appends, sends no such thing.

    Why: what is sent without being declared is held to nothing, and a chart may be reading it.

    Usual cause: a capability left out of the adapter to silence a check.
    """
    if case in adapter.capabilities:
        return
    with Bench(adapter, Service.APPEND) as bench:
        process = bench.process(Schedule(max_steps=10))
        for step in (1, 2, 3):
            process.log_metrics({"loss": 0.5}, step, "train")
        process.close()
        sent = [f"{request.method} {request.path}" for request in bench.probe.requests]
        undeclared = [line for line in sent if case == "reports_to_service" or line.startswith("POST")]
        if undeclared:
            raise check.fail(f"{case} is not declared and was done", got=undeclared[:5], want=CAPABILITIES[case])
