"""What the service accepts and answers, as strict models: the served OpenAPI document says exactly this."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field
from typing_extensions import TypedDict

from impl.metrics_wire.service.json_values import AnyJson, Epoch, Number, Observed, Step

Status = Literal[
    "created",
    "pending",
    "active",
    "cancelled",
    "cancelling",
    "error",
    "completed",
    "paused",
    "pausing",
    "resuming",
]

MAX_NAME = 512
ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"


SeriesName = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]


class Point(TypedDict):
    """One point of a curve."""

    __pydantic_config__ = ConfigDict(strict=True, extra="forbid")  # type: ignore[misc]  # as pydantic wants it

    step: Step
    epoch: Epoch
    value: Number


#: The first wrong point is enough: there may be millions.
Metrics = dict[SeriesName, Annotated[list[Point], FailFast()]]


def _has_no_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


#: A field that may be left out, which is not the same as null.
_LEFT_OUT: Any = Field(default=None, json_schema_extra=_has_no_default)


class StatusDetails(BaseModel):
    """The snapshot of a task, as its writer likes it, and its series."""

    model_config = ConfigDict(strict=True, extra="allow")
    __pydantic_extra__: dict[str, Observed]

    metrics: Metrics = _LEFT_OUT


class TaskUpdate(BaseModel):
    """An update of a task; what is left out stays as it is stored. A new task is pending."""

    model_config = ConfigDict(strict=True, extra="forbid")

    status: Status = _LEFT_OUT
    status_details: StatusDetails = _LEFT_OUT
    error_details: dict[str, AnyJson] = _LEFT_OUT
    error_stack: str = _LEFT_OUT


class Append(BaseModel):
    """New points of any series; a point of a step that is stored already takes its place."""

    model_config = ConfigDict(strict=True, extra="forbid")

    metrics: Metrics


Id = Annotated[str, Field(pattern=ID_PATTERN)]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class Appended(BaseModel):
    """The points are stored."""

    model_config = ConfigDict(extra="forbid")

    revision: int


class TaskState(BaseModel):
    """A task as it is stored. ``revision`` grows with every write."""

    model_config = ConfigDict(extra="forbid")

    workspace: Id
    job: Id
    step: Id
    task: Id
    status: Status
    status_details: dict[str, Observed]
    error_details: dict[str, AnyJson] | None
    error_stack: str | None
    revision: int
    created_at: Time
    updated_at: Time


class StoredDetails(BaseModel):
    """The snapshot as it was sent, and every series; ``train_loss`` and ``val_loss`` are among them, if any is."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Observed]

    metrics: Metrics = _LEFT_OUT


class Task(TaskState):
    """A task with its series, steps ascending."""

    status_details: StoredDetails  # type: ignore[assignment]  # the same object, more of it


class ListedTask(BaseModel):
    """A task in the list: what its snapshot says of its progress, ``null`` where it says nothing of the kind."""

    model_config = ConfigDict(extra="forbid")

    workspace: Id
    job: Id
    step: Id
    task: Id
    status: Status
    phase: str | None
    train_step: int | None
    max_steps: int | None
    percentage_done: float | None
    revision: int
    created_at: Time
    updated_at: Time


class TaskFilter(BaseModel):
    """Which tasks are listed."""

    model_config = ConfigDict(extra="forbid")

    workspace: Id | None = None
    job: Id | None = None


class TaskList(BaseModel):
    """Tasks, the one that was written last first."""

    model_config = ConfigDict(extra="forbid")

    tasks: list[ListedTask]


class Health(BaseModel):
    """The service and its database answer."""

    model_config = ConfigDict(extra="forbid")

    status: Literal["ok"]


class Refusal(BaseModel):
    """Why a request was not carried out; the message names the field. Nothing has changed."""

    model_config = ConfigDict(extra="forbid")

    message: str
