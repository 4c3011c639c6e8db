"""How a command ends when it cannot do what it was asked."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts.report.report import ExitCode


def end(message: str, code: ExitCode) -> NoReturn:
    """Print one clear error on standard error and exit with ``code``."""
    typer.secho(f"error: {message}", err=True, fg=typer.colors.RED)
    raise typer.Exit(code)


@contextmanager
def ending(code: ExitCode, *errors: type[Exception]) -> Iterator[None]:
    """End the command with ``code`` if the block raises one of ``errors``; its message is the explanation."""
    try:
        yield
    except errors as error:
        end(str(error), code)
