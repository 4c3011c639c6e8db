"""Chartable values: what of a loop's metric dict can be a point of a curve, as Python numbers."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Largest step that every JSON reader keeps exact (2**53 - 1).
MAX_STEP = 9_007_199_254_740_991


def chartable(value: object) -> float | int | None:
    """``value`` as a finite built-in number, ``None`` if it is not one.

    Integers stay integers. Numpy scalars, 0-d arrays and 0-d tensors of any library become built-ins; they are known
    by an empty ``shape`` and an ``item()``, so that none of those libraries is imported. Bools, text, containers, NaN,
    infinities and integers beyond the range of a float are not chartable.
    """
    if type(value) is float:
        return value if math.isfinite(value) else None
    if isinstance(value, bool):
        return None
    if not isinstance(value, (int, float)) and _is_zero_dimensional(value):
        value = value.item()  # type: ignore[attr-defined]  # checked by _is_zero_dimensional
    return _as_number(value)


def chartable_metrics(
    metrics: Mapping[object, object], on_dropped: Callable[[str, str], None]
) -> dict[str, float | int]:
    """The chartable entries of ``metrics``, in their order, as a new dict; every other entry costs only itself.

    Args:
        metrics: Any names, any values.
        on_dropped: Told the name and the reason of an entry that looks like a metric and cannot be charted. Histograms,
            tables, text and containers are no metrics, and dropped in silence.
    """
    kept: dict[str, float | int] = {}
    for name, value in metrics.items():
        if not isinstance(name, str) or not _is_utf8(name):
            on_dropped(f"{printable(name)!r:.80}", "its name is no text")
            continue
        try:
            number = chartable(value)
        except Exception as error:  # noqa: BLE001 - item() runs the code of whichever library made the value
            on_dropped(name, f"reading its value failed: {error}")
            continue
        if number is not None:
            kept[name] = number
        elif isinstance(value, numbers.Number):
            on_dropped(name, f"{printable(value)} cannot be charted")
    return kept


def step_number(step: object) -> int | None:
    """``step`` as an integer from 0 to `MAX_STEP`, ``None`` if it is not one; an integral float is that integer."""
    try:
        number = chartable(step)
    except Exception:  # noqa: BLE001 - item() runs the code of whichever library made the value
        return None
    if number is None or number != int(number) or not 0 <= number <= MAX_STEP:
        return None
    return int(number)


def _is_zero_dimensional(value: object) -> bool:
    shape = getattr(value, "shape", None)
    return shape is not None and hasattr(shape, "__len__") and len(shape) == 0 and hasattr(value, "item")


def _as_number(value: object) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        as_float = float(value)
    except OverflowError:
        return None
    if not math.isfinite(as_float):
        return None
    return int(value) if isinstance(value, numbers.Integral) else as_float


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(value: object) -> object:
    """``value`` for a message: an integer of thousands of digits has no repr, everything else stays as it is."""
    if isinstance(value, int) and abs(value) > MAX_STEP:
        return f"an integer of {value.bit_length()} bits"
    return value
