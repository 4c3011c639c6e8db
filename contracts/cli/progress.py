"""Progress of a long run, on standard error and only where that is a terminal."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress(total: int, unit: str) -> Iterator[Callable[[str], None]]:
    """Show a bar of ``total`` steps; call the given function with a line after each."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.fields[unit]}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns,
        TextColumn("{task.description}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("", total=total, unit=unit)

        def advance(line: str) -> None:
            bar.update(task, advance=1, description=line)

        yield advance
