"""Any order of what can happen to a run, against a model of what must be stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.failure import ContractFailure
from contracts.metrics_wire.sides import logger
from contracts.metrics_wire.sources import loops
from contracts.profiles import current_profile, profile_settings

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter

#: Events of one run.
_EVENTS = 20


@logger.check(
    "MW-631",
    source=loops("runs log, validate, save, fail, die and are taken over, in any order"),
    requires={"reports_to_service"},
    limit_s=300,
)
def any_order_of_events_stores_what_was_logged(check: Check[LoggerAdapter], adapter: LoggerAdapter) -> None:
    """Whatever order a run logs, validates, loses its service, is killed and taken over in, what must be stored is.

    Why: each of these is handled somewhere, and it is their meeting that loses curves.

    Usual cause: state that one path resets and another one relies on.
    """
    from hypothesis import Phase, settings  # noqa: PLC0415 - a room can be read without Hypothesis
    from hypothesis.errors import Flaky  # noqa: PLC0415 - as above
    from hypothesis.stateful import run_state_machine_as_test  # noqa: PLC0415 - as above

    from contracts.metrics_wire.training_machine import Training  # noqa: PLC0415 - as above

    failures: list[ContractFailure] = []
    machine = type("Run", (Training,), {"adapter": adapter, "check": check, "failures": failures})
    profile = profile_settings(current_profile.get())
    # A shorter sequence is not worth the minutes that hundreds of further runs with real processes of threads take.
    chosen = settings(profile, stateful_step_count=_EVENTS, phases=[Phase.generate])
    try:
        run_state_machine_as_test(machine, settings=chosen)
    except (ContractFailure, Flaky):
        # What depends on the moment of a request may not come again; it happened all the same.
        raise failures[0] from None
