"""The values of a trace, as the loops pass them: numpy's are numpy's own, other libraries' are stand-ins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class ZeroDimTensor:
    """Behaves as a 0-d tensor does, so that no tensor library is needed: an empty shape, and ``item()``.

    Attributes:
        value: What ``item()`` returns.
        shape: Always ``()``.
    """

    value: Any
    shape: tuple[()] = ()

    def item(self) -> Any:
        """The value as a built-in."""
        return self.value


@dataclass(frozen=True, slots=True)
class Tensor:
    """Behaves as a tensor of several elements: it has no single value.

    Attributes:
        shape: Sizes, at least one of them.
    """

    shape: tuple[int, ...]

    def item(self) -> Any:
        """Refused, as by every tensor library."""
        raise RuntimeError(f"a tensor of shape {self.shape} cannot be converted to a scalar")


@dataclass(frozen=True, slots=True)
class Opaque:
    """An object of a charting library: a histogram, a table, an image.

    Attributes:
        kind: Its type's name.
        content: What it was made from.
    """

    kind: str
    content: Any


def _tensor(value: dict[str, Any]) -> object:
    shape = tuple(value["shape"])
    return Tensor(shape) if shape else ZeroDimTensor(value["value"])


_TYPES: dict[str, Callable[[dict[str, Any]], object]] = {
    "float": lambda value: float(value["value"]),
    "numpy.float64": lambda value: np.float64(value["value"]),
    "numpy.float32": lambda value: np.float32(value["value"]),
    "numpy.int64": lambda value: np.int64(value["value"]),
    "numpy.ndarray": lambda value: np.array(value["values"], dtype=value["dtype"]),
    "torch.tensor": _tensor,
    "wandb.Histogram": lambda value: Opaque("wandb.Histogram", value["values"]),
    "wandb.Table": lambda value: Opaque("wandb.Table", (value["columns"], value["rows"])),
    "dict": lambda value: {key: revived(item) for key, item in value["items"]},
}


def revived(value: Any) -> Any:
    """The value that a trace stands for.

    Raises:
        ValueError: If it names a type that is not known.
    """
    if isinstance(value, list):
        return [revived(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "__type__" not in value:
        return {key: revived(item) for key, item in value.items()}
    kind = value["__type__"]
    if kind not in _TYPES:
        raise ValueError(f"unknown __type__ {kind!r}; known are {', '.join(sorted(_TYPES))}")
    return _TYPES[kind](value)
