"""What the service accepts and answers, as strict models: the served OpenAPI document says exactly this."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable

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

#: Largest step and epoch: every JSON reader keeps integers up to here exact.
MAX_STEP = 2**53 - 1
MAX_NAME = 512
#: Arrays and objects within each other, in what a client may send as it likes.
MAX_DEPTH = 32
_MAX_NUMBER = math.nextafter(math.inf, 0)

ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"
_NUMBER_SCHEMA = {"type": "number", "minimum": -_MAX_NUMBER, "maximum": _MAX_NUMBER}


def _number(value: object) -> int | float:
    if type(value) not in {int, float} or not _is_finite(value):
        raise PydanticCustomError("finite_number", "must be a finite number")
    return value  # type: ignore[return-value]  # just seen to be one


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _whole_number(value: object) -> object:
    # JSON Schema counts 1.0 as an integer, and so does the document that is served.
    return int(value) if isinstance(value, float) and value.is_integer() else value


Step = Annotated[int, Field(ge=0, le=MAX_STEP), BeforeValidator(_whole_number)]
Epoch = Annotated[int, Field(ge=1, le=MAX_STEP), BeforeValidator(_whole_number)]
Number = Annotated[int | float, PlainValidator(_number), WithJsonSchema(_NUMBER_SCHEMA)]

ObservedJson = TypeAliasType("ObservedJson", "str | bool | Number | list[ObservedJson] | dict[str, ObservedJson]")
Json = TypeAliasType("Json", "str | bool | Number | list[Json] | dict[str, Json] | None")


def _checked(*, null: bool) -> Callable[[object], object]:
    def check(value: object) -> object:
        _check(value, null=null, where="", depth=1)
        return value

    return check


def _check(value: object, *, null: bool, where: str, depth: int) -> None:
    at = f"at {where[1:]}: " if where else ""
    if value is None and not null:
        raise PydanticCustomError("null", "{at}must not be null, leave it out", {"at": at})
    if type(value) in {int, float} and not _is_finite(value):
        raise PydanticCustomError("finite_number", "{at}must be a finite number", {"at": at})
    if isinstance(value, (dict, list)):
        if depth > MAX_DEPTH:
            raise PydanticCustomError("depth", "is nested more than {depth} deep", {"depth": MAX_DEPTH})
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            _check(inner, null=null, where=f"{where}.{name}", depth=depth + 1)


Observed = Annotated[Any, PlainValidator(_checked(null=False), json_schema_input_type=ObservedJson)]
AnyJson = Annotated[Any, PlainValidator(_checked(null=True), json_schema_input_type=Json)]

SeriesName = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]


class Point(TypedDict):
    """One point of a curve."""

    __pydantic_config__ = ConfigDict(strict=True, extra="forbid")  # type: ignore[misc]  # as pydantic wants it

    step: Step
    epoch: Epoch
    value: Number


Metrics = dict[SeriesName, list[Point]]


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
