"""``contracts list`` and ``contracts explain``."""

from __future__ import annotations

import textwrap
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from contracts.catalogue import find
from contracts.cli.ending import end, ending
from contracts.report.report import ExitCode
from contracts.report.terminal import output
from contracts.rooms import RoomUnavailableError, load, names


def list_checks(
    room: Annotated[str | None, typer.Argument(help="ROOM or ROOM.SIDE; all without it.")] = None,
) -> None:
    """Print the catalogue: id, level, claim and mutants of every check."""
    console = output()
    count = 0
    contracts = []
    with ending(ExitCode.USAGE, ValueError):
        wanted = names(room)
    for name in wanted:
        try:
            contracts.append(load(name))
        except RoomUnavailableError as error:
            if room is not None:
                end(str(error), ExitCode.ERROR)
            typer.echo(f"not listed: {error}", err=True)
    for contract in contracts:
        table = Table(
            title=f"{contract.name} {contract.version}: {contract.summary}",
            title_justify="left",
            box=box.SIMPLE_HEAD if console.is_terminal else box.ASCII2,
        )
        table.add_column("id", no_wrap=True)
        table.add_column("level", no_wrap=True)
        table.add_column("claim", ratio=3)
        table.add_column("mutants", ratio=1)
        for check in contract.checks:
            level = f"retired {check.until}" if check.until else check.level
            mutants = " ".join(mutant.id for mutant in contract.mutants if mutant.killed_by == check.id)
            table.add_row(check.id, level, check.claim, mutants)
        console.print(table)
        count += len(contract.checks)
    typer.echo(f"{count} checks, {sum(len(contract.mutants) for contract in contracts)} mutants")


def explain(
    check_id: Annotated[str, typer.Argument(metavar="ID", help="A check id, such as GO-101.")],
) -> None:
    """Print claim, why, usual cause, source and mutants of one check."""
    with ending(ExitCode.USAGE, ValueError), ending(ExitCode.ERROR, RoomUnavailableError):
        contract, check = find(check_id)
    typer.echo(f"{check.id} {check.level} of {contract.name}, since {check.since}\n\n{check.claim}\n")
    needs = ", ".join(sorted(check.requires)) or "nothing beyond the protocol"
    for title, text in (
        ("Why", check.why),
        ("Usual cause", check.usual_cause),
        ("Source", str(check.source)),
    ):
        typer.echo(textwrap.fill(f"{title}: {text}", 110, subsequent_indent="  ", break_on_hyphens=False))
    typer.echo(f"Needs: {needs}\n\nMutants:")
    for mutant in (*contract.mutants, *contract.controls):
        if mutant.killed_by == check.id:
            typer.echo(f"  {mutant.id}: {mutant.description}")
