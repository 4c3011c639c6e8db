"""The cases that the checks of a Jobs service take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Storm:
    """Concurrent writers, and SIGKILL in the middle of their writes.

    Attributes:
        writers: Writers at once.
        acknowledged: Acknowledged writes after which the service is killed.
        kills: How often it is killed and started again.
    """

    writers: int = 4
    acknowledged: int = 40
    kills: int = 1


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of mistake, credential or the like.

    Attributes:
        kind: Which one; the check knows what it stands for.
    """

    kind: str


@dataclass(frozen=True, slots=True)
class Updates:
    """Updates of one task, one after the other.

    Attributes:
        bodies: The JSON of each.
    """

    bodies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """One write of one of the two writers of a task.

    Attributes:
        writer: ``runner`` or ``driver``.
        kind: What is written: ``status``, ``phase``, ``error``, ``series`` or ``points``.
        number: Which of its values.
    """

    writer: str
    kind: str
    number: int = 1


@dataclass(frozen=True, slots=True)
class Interleaving:
    """The writes of the runner and the driver of one task, in the order in which they arrive.

    Attributes:
        turns: The writes.
    """

    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Race:
    """Writers of one task at the same time.

    Attributes:
        writers: How many there are.
        writes: How many writes each makes.
    """

    writers: int = 2
    writes: int = 8


@dataclass(frozen=True, slots=True)
class Sent:
    """One point as it is appended.

    Attributes:
        series: Name of its series.
        step: Its step.
        epoch: Its epoch.
        value: JSON of its value.
    """

    series: str
    step: int
    epoch: int = 1
    value: str = "0.5"


@dataclass(frozen=True, slots=True)
class Batches:
    """Points that are appended, batch by batch.

    Attributes:
        batches: The points of each request; of one series and step, a request has at most one.
    """

    batches: tuple[tuple[Sent, ...], ...]


@dataclass(frozen=True, slots=True)
class SeriesNames:
    """Names of series.

    Attributes:
        names: The names.
    """

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """One value of JSON.

    Attributes:
        text: Its JSON.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids of a task, unquoted.

    Attributes:
        workspace: Workspace.
        step: Step.
        task: Task.
        job: What the id of the job ends with.
    """

    workspace: str = "default"
    step: str = "train"
    task: str = "training"
    job: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tasks whose ids differ.

    Attributes:
        one: The first.
        other: The second.
    """

    one: Ids
    other: Ids
