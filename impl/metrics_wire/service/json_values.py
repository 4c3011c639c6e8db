"""The JSON values that the service accepts: finite numbers, and what a client may send as it likes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

if TYPE_CHECKING:
    from collections.abc import Callable

#: Largest step and epoch: every JSON reader keeps integers up to here exact.
MAX_STEP = 2**53 - 1
#: Arrays and objects within each other, in what a client may send as it likes.
MAX_DEPTH = 32
_MAX_NUMBER = int(math.nextafter(math.inf, 0))
# Without bounds: readers of a document disagree on numbers this large, as decimals, as floats, or rounded.
_NUMBER_SCHEMA = {"type": "number", "description": "Finite as a 64-bit float."}


def _number(value: object) -> int | float:
    if type(value) not in {int, float} or not _is_finite(value):
        raise PydanticCustomError("finite_number", "must be a finite number")
    return value  # type: ignore[return-value]  # just seen to be one


def _is_finite(value: Any) -> bool:
    # Compared exactly: an integer a little beyond the largest float would still be rounded to it.
    return bool(abs(value) <= _MAX_NUMBER)


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
