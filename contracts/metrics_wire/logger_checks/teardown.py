"""The drivers' teardown, read from their syntax trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.metrics_wire.drivers import find_drivers
from contracts.metrics_wire.sides import logger
from contracts.metrics_wire.sources import fixed

if TYPE_CHECKING:
    from contracts.check import Check
    from contracts.metrics_wire.protocols import LoggerAdapter


@logger.check(
    "MW-521",
    source=fixed("the drivers cannot be imported outside the training image, so their teardown is read from the AST"),
    requires={"driver"},
)
def drivers_close_in_a_finally(check: Check[LoggerAdapter], adapter: LoggerAdapter) -> None:
    """Every driver trains in a try whose finally closes the logger that it attached, before anything else.

    Why: a teardown that can only be tested inside the training image is not tested.

    Usual cause: a close after the training, in an except, behind a slow teardown, or of another logger.
    """
    found = [(path, driver) for path in adapter.driver_sources for driver in find_drivers(path.read_text())]
    if not found:
        raise check.fail("no driver was found", got=[str(path) for path in adapter.driver_sources], want="drivers")
    if faults := [f"{path.name}:{driver.line} {driver.name}: {driver.fault}" for path, driver in found if driver.fault]:
        raise check.fail("a driver does not close in a finally", got=faults, want="no fault")
