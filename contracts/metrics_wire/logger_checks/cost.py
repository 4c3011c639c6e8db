"""Cost: bytes on the wire, as multiples of the series that are stored at the end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from contracts.metrics_wire.bench import Bench
from contracts.metrics_wire.cases import At
from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.services import Service
from contracts.metrics_wire.sides import logger
from contracts.metrics_wire.sources import fixed

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter

STEPS = 120
SERIES = 14
#: Reports are let through every so many steps: the logger sees many sizes of the series.
EVERY = 6

#: Whole series: a report whenever the points have grown by a tenth costs 1 + 1/1.1 + 1/1.1**2 + ... = 11 times the last
#: one, and the last one is sent once more at the end.
WHOLE_BUDGET = 12.0
#: Appended points: each point once (1), the names of the series in every request and the snapshot of current values
#: beside it (less than 1 each, a request carrying at least six steps), and the first points once more.
APPEND_BUDGET = 4.0


def cost_of(adapter: LoggerAdapter, service: Service) -> float:
    """Bytes of all request bodies of a run, over those of its final ``status_details``."""
    with Bench(adapter, service) as bench:
        process = bench.process(Schedule(max_steps=STEPS))
        for step in range(1, STEPS + 1):
            metrics = {"loss": 1 / step} | {f"metric_{index}": step / (index + 7) for index in range(SERIES - 1)}
            process.log_metrics(metrics, step, "train")
            if step % EVERY == 0:
                bench.has("train_loss", step, seconds=0.15)
        process.close()
        stored = bench.probe.stored() or {}
        final = len(json.dumps(stored.get("status_details"), separators=(",", ":")))
        return sum(len(request.body) for request in bench.probe.requests) / final


@logger.check(
    "MW-801",
    source=fixed("every series is resent in full on every update, so the payload grows with series times steps"),
    requires={"reports_to_service"},
    examples=(At(Service.REPLACE), At(Service.MERGE)),
)
def whole_series_stay_within_their_budget(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """Without an append, a run sends at most 12 times its final details.

    Why: 14 series over 20 000 steps, sent whole at every step, are 100 GB.

    Usual cause: a report of everything at every step.
    """
    cost = cost_of(adapter, case.service)
    if cost > WHOLE_BUDGET:
        raise check.fail("whole series cost too much", got=f"{cost:.1f} times", want=f"at most {WHOLE_BUDGET:g} times")


@logger.check(
    "MW-802",
    source=fixed("putting the whole GRPO surface on that wire needs the metrics transport reworked"),
    requires={"reports_to_service", "append"},
    examples=(At(Service.APPEND), At(Service.MERGE_APPEND)),
)
def appended_points_stay_within_their_budget(check: Check[LoggerAdapter], adapter: LoggerAdapter, case: At) -> None:
    """With an append, a run sends at most 4 times its final details: each point once, and the names beside it.

    Why: the bytes must grow with the points, not with their square.

    Usual cause: an append that resends what it has sent, or whole series in the updates beside it.
    """
    cost = cost_of(adapter, case.service)
    if cost > APPEND_BUDGET:
        raise check.fail(
            "appended points cost too much", got=f"{cost:.1f} times", want=f"at most {APPEND_BUDGET:g} times"
        )
