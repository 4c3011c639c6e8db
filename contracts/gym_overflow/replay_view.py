"""A replay, printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich import box
from rich.table import Table

from contracts.report.terminal import output

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from contracts.gym_overflow.replay import Replay, ReplayedRow

_KINDS = ("overflow", "not_overflow", "ambiguous")


def show(replay: Replay) -> None:
    """Print a table of kinds, the rows that need a look, and one line of totals."""
    console = output()
    console.print(_table(replay, plain=not console.is_terminal))
    alarms = [row for row in replay.rows if row.false_alarm]
    missed = [row for row in replay.rows if row.missed]
    if replay.through:
        _list(console, "ambiguous rows", (row for row in replay.rows if row.row["kind"] == "ambiguous"), verdicts=True)
        _list(console, "overflows of public reports that are missed", (row for row in missed if not row.measured))
        _list(console, "MEASURED OVERFLOWS THAT ARE MISSED", (row for row in missed if row.measured))
        _list(console, "FALSE ALARMS", alarms)
    else:
        _list(console, "DISAGREEMENTS WITH THE RECORDED VERDICT", replay.disagreements, verdicts=True)
    measured = sum(row.measured for row in missed)
    typer.echo(
        f"{len(replay.rows)} rows, {len(missed)} missed overflows ({measured} measured), {len(alarms)} false alarms, "
        f"{len(replay.disagreements)} disagreements"
    )


def _table(replay: Replay, *, plain: bool) -> Table:
    middleware = ", through the reference middleware" if replay.through else ""
    table = Table(title=f"{replay.gym}{middleware}", title_justify="left", box=box.ASCII2 if plain else box.SIMPLE_HEAD)
    for heading in ("kind", "rows", "classified", "not classified", "from public reports"):
        table.add_column(heading, justify="left" if heading == "kind" else "right")
    for kind in _KINDS:
        rows = [row for row in replay.rows if row.row["kind"] == kind]
        classified = sum(row.classified for row in rows)
        public = sum(not row.measured for row in rows)
        table.add_row(kind, *map(str, (len(rows), classified, len(rows) - classified, public)))
    return table


def _list(console: Console, title: str, rows: Iterable[ReplayedRow], *, verdicts: bool = False) -> None:
    found = list(rows)
    if not found:
        return
    console.print(f"\n{title}: {len(found)}", markup=False)
    for row in found:
        said = f" {'overflow' if row.classified else 'not an overflow'}" if verdicts else ""
        how = f", decided by {row.decided_by}" if row.decided_by else ""
        body = " ".join(row.row["body"].split())[:120]
        where = row.row.get("producer", "")
        console.print(
            f"  row {row.number} {where} {row.row['status']}{said}{how}: {body}", markup=False, soft_wrap=True
        )
