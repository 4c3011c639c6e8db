"""``contracts mutants``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from contracts.cli.printing import print_and_exit
from contracts.cli.selection import targets
from contracts.verification import try_mutants


def mutants(
    rooms: Annotated[list[str] | None, typer.Argument(help="ROOM or ROOM.SIDE; all without it.")] = None,
    *,
    adapter: Annotated[str | None, typer.Option(help="package.module:factory; the reference without it.")] = None,
    gym: Annotated[str | None, typer.Option(help="As for run.")] = None,
    only: Annotated[str | None, typer.Option(help="Try only the mutants of these checks.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write the report here, as JSON Lines.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report here, as one HTML page.")] = None,
) -> None:
    """Seed every defect into an adapter, or the reference, and print the kill matrix."""
    with targets(rooms or (), adapter=adapter, gym=gym, only=only) as found:
        total = sum(len(target.mutants) for target in found)
        print_and_exit(try_mutants(found), total=total, unit="mutants", report=report, html=html)
