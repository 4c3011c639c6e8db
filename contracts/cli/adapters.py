"""Adapters named on the command line."""

from __future__ import annotations

import importlib
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class AdapterError(Exception):
    """An adapter that could not be built."""


@contextmanager
def opened(factory: str) -> Iterator[tuple[Any, ...]]:
    """The adapters that ``package.module:factory`` builds, closed at the end.

    The factory takes no argument and returns one adapter, a context manager that gives one, or a tuple of those.
    The current directory is importable, as it is under ``python -m``.

    Raises:
        AdapterError: If it cannot be imported or called, or an adapter cannot be opened or closed.
    """
    with ExitStack() as stack:
        yield tuple(_entered(stack, adapter, factory) for adapter in _built(factory))


def _built(factory: str) -> tuple[Any, ...]:
    module_name, colon, name = factory.partition(":")
    if not (colon and module_name and name):
        raise AdapterError(f"--adapter takes package.module:factory, got {factory!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise AdapterError(f"cannot import {module_name}: {error}; {_advice(error)}") from error
    except (Exception, SystemExit) as error:
        raise AdapterError(f"cannot import {module_name}: {type(error).__name__}: {error}") from error
    if not hasattr(module, name):
        raise AdapterError(f"{module_name} has no {name!r}")
    try:
        made = getattr(module, name)()
    except (Exception, SystemExit) as error:
        raise AdapterError(f"{factory}() failed: {type(error).__name__}: {error}") from error
    return made if isinstance(made, tuple) else (made,)


def _advice(error: ImportError) -> str:
    if error.name and error.name.partition(".")[0] not in {"impl", "contracts"}:
        return (
            f"is {error.name.partition('.')[0]} installed? A room's needs are extras, as in rl-contracts[gym-overflow]"
        )
    return "run from the folder that holds it, or install it"


def _entered(stack: ExitStack, adapter: Any, factory: str) -> Any:
    own = ExitStack()

    def close() -> None:
        try:
            own.close()
        except (Exception, SystemExit) as error:
            raise AdapterError(f"{factory} could not be closed: {type(error).__name__}: {error}") from error

    stack.callback(close)
    try:
        if hasattr(adapter, "__enter__"):
            return own.enter_context(adapter)
    except (Exception, SystemExit) as error:
        raise AdapterError(f"{factory} could not be opened: {type(error).__name__}: {error}") from error
    if hasattr(adapter, "close"):
        own.callback(adapter.close)
    return adapter
