"""The command line, ``contracts`` and ``python -m contracts``.

Exit codes: 0 all MUST hold, 1 a MUST failed or a mutant survived, 2 usage, 3 adapter or harness error,
4 incomplete run. The last line on standard output is always one line of totals.
"""

from __future__ import annotations

import sys

import typer

from contracts.cli.catalogue import explain, list_checks
from contracts.cli.mutants import mutants
from contracts.cli.report import report
from contracts.cli.run import run
from contracts.gym_overflow.cli import app as gym
from contracts.metrics_wire.cli import app as metrics
from contracts.numerics.cli import app as numerics
from contracts.report.report import ExitCode
from contracts.rooms import ROOMS

app = typer.Typer(
    name="contracts",
    help="Executable contracts for the joints of a reinforcement-learning post-training stack.",
    epilog="Exit codes: 0 all MUST hold, 1 a MUST failed, 2 usage, 3 adapter or harness error, 4 incomplete run.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("list")(list_checks)
app.command("explain")(explain)
app.command("run")(run)
app.command("mutants")(mutants)
app.command("report")(report)
app.add_typer(gym, name="gym")
app.add_typer(metrics, name="metrics")
app.add_typer(numerics, name="numerics")


def main() -> None:
    """Entry point of the ``contracts`` command."""
    try:
        app()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in {"contracts", "impl"}:
            raise
        extras = ", ".join(f"rl-contracts[{room.replace('_', '-')}]" for room in ROOMS)
        message = f"this command needs {error.name}, which is not installed; a room's needs are extras: {extras}"
        typer.secho(f"error: {message}", err=True, fg=typer.colors.RED)
        sys.exit(ExitCode.ERROR)
