"""The cases that the checks of the logger take."""

from __future__ import annotations

from dataclasses import dataclass

from contracts.metrics_wire.protocols import Schedule
from contracts.metrics_wire.services import Service

_ONE_EPOCH = Schedule(max_steps=23, steps_per_epoch=23)


@dataclass(frozen=True, slots=True)
class At:
    """A check that only depends on the kind of service.

    Attributes:
        service: What the service does with an update.
    """

    service: Service = Service.REPLACE


@dataclass(frozen=True, slots=True)
class Run:
    """The train steps of one process.

    Attributes:
        service: What the service does with an update.
        algorithm: ``grpo`` or ``dpo``.
        schedule: The run's configuration.
        first: The first step that the process logs.
        steps: How many it logs.
    """

    service: Service = Service.REPLACE
    algorithm: str = "grpo"
    schedule: Schedule = _ONE_EPOCH
    first: int = 1
    steps: int = 3

    @property
    def logged(self) -> range:
        """The steps that the process logs."""
        return range(self.first, self.first + self.steps)


@dataclass(frozen=True, slots=True)
class Planned:
    """Some steps of a planned run.

    Attributes:
        schedule: The run's configuration.
        steps: The steps that are logged, ascending.
        takes_over_at: Index into ``steps`` of the first that another process logs.
    """

    schedule: Schedule
    steps: tuple[int, ...]
    takes_over_at: int = 0


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of value, fault, ending or the like.

    Attributes:
        kind: Which one; the check knows what it stands for.
        service: What the service does with an update.
    """

    kind: str
    service: Service = Service.REPLACE


@dataclass(frozen=True, slots=True)
class Names:
    """Metrics of one dict.

    Attributes:
        names: Their names, as the loop has them.
        service: What the service does with an update.
    """

    names: tuple[str, ...]
    service: Service = Service.REPLACE


@dataclass(frozen=True, slots=True)
class Sets:
    """Validation sets with the same metrics.

    Attributes:
        sets: Names of the sets, in the order in which they are validated.
        names: Names of the metrics.
    """

    sets: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Throttled:
    """A run whose last step may lie between two reports.

    Attributes:
        service: What the service does with an update.
        algorithm: ``grpo`` or ``dpo``.
        val_period: Ten times the interval of the reports.
        steps: How many train steps are logged.
        validates: Whether a validation follows the last of them.
        end: How the run ends.
    """

    service: Service = Service.REPLACE
    algorithm: str = "grpo"
    val_period: int = 100
    steps: int = 3
    validates: bool = True
    end: str = "close"


@dataclass(frozen=True, slots=True)
class Resumed:
    """Processes of one run, each of which starts again from a checkpoint.

    Attributes:
        service: What the service does with an update.
        spans: First and last step of each process.
    """

    service: Service
    spans: tuple[tuple[int, int], ...]
