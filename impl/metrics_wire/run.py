"""The drivers' part of a run: attach the logger, train, and close the logger whatever happened.

No loop of these two ends its loggers, so the driver does, in a ``finally``, and before anything slow.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol, TypeVar

from impl.metrics_wire.termination import Termination

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")


class CompositeLogger(Protocol):
    """What is used of NeMo-RL's ``Logger``.

    Attributes:
        loggers: Its backends.
    """

    loggers: list[object]


class ClosableLogger(Protocol):
    """A backend that a driver closes."""

    def close(self) -> object:
        """Deliver everything that is left; never raises."""


def run_grpo(
    train: Callable[[], T],
    composite: CompositeLogger,
    logger: ClosableLogger,
    environments: Iterable[Callable[[], object]] = (),
) -> T:
    """Run a GRPO training with ``logger`` among the backends of ``composite``.

    Args:
        train: Calls ``grpo_train``.
        composite: The logger that the loop was given.
        logger: Closed after a return, an exception, an interrupt and SIGTERM, before the environments.
        environments: Shut the task environments down; they are slow and may fail.

    Returns:
        What ``train`` returned; what it raised goes through.
    """
    with ExitStack() as shut_downs, Termination() as termination:
        for shut_down in environments:
            shut_downs.callback(shut_down)
        composite.loggers.append(logger)
        try:
            return train()
        finally:
            with termination.shielded():
                logger.close()


def run_dpo(train: Callable[[], T], composite: CompositeLogger, logger: ClosableLogger) -> T:
    """Run a DPO training with ``logger`` among the backends of ``composite``; see `run_grpo`."""
    with Termination() as termination:
        composite.loggers.append(logger)
        try:
            return train()
        finally:
            with termination.shielded():
                logger.close()
