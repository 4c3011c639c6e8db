"""``contracts run``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from contracts.cli.ending import ending
from contracts.cli.printing import print_and_exit
from contracts.cli.selection import targets
from contracts.report.report import ExitCode
from contracts.verification import run as run_targets


class Profile(StrEnum):
    """How many cases a check draws."""

    SMOKE = "smoke"
    DEFAULT = "default"
    DEEP = "deep"


def run(
    rooms: Annotated[list[str] | None, typer.Argument(help="ROOM or ROOM.SIDE; all without it.")] = None,
    *,
    adapter: Annotated[str | None, typer.Option(help="package.module:factory; the reference without it.")] = None,
    gym: Annotated[
        str | None,
        typer.Option(help="Gym releases, wheels, trees, files or 'installed'; all pinned releases without it."),
    ] = None,
    only: Annotated[str | None, typer.Option(help="Check ids, separated by commas.")] = None,
    case: Annotated[str | None, typer.Option(help="One case as JSON, as a failure prints it.")] = None,
    profile: Annotated[Profile, typer.Option(help="How many cases a check draws.")] = Profile.DEFAULT,
    report: Annotated[Path | None, typer.Option(help="Write the report here, as JSON Lines.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report here, as one HTML page.")] = None,
) -> None:
    """Hold an adapter, or the reference, to its contracts."""
    with targets(rooms or (), adapter=adapter, gym=gym, only=only) as found:
        total = sum(len(target.checks) for target in found)
        with ending(ExitCode.USAGE, ValueError):
            events = run_targets(found, profile=profile.value, case=case)
            print_and_exit(events, total=total, unit="checks", report=report, html=html)
