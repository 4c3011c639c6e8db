"""The command `jobs-service`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from impl.metrics_wire.service.settings import DEFAULT_MAX_BODY, Rule, Settings

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Keeps the tasks of jobs and their curves.")

_FAILED = 1

_Database = Annotated[
    str, typer.Option(help="sqlite:///FILE, postgresql://USER:PASSWORD@HOST:PORT/NAME, or the path of an SQLite file.")
]


@app.callback()
def _commands() -> None:
    """Keeps the tasks of jobs and their curves."""


@app.command()
def serve(
    database: _Database = "sqlite:///jobs.sqlite",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on, 0 for a free one.")] = 8321,
    rule: Annotated[Rule, typer.Option(help="What an update does to the stored status_details.")] = Rule.REPLACE,
    token: Annotated[
        str | None, typer.Option(envvar="JOBS_SERVICE_TOKEN", help="What every request has to carry, if anything.")
    ] = None,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes that a request's body may have.")] = DEFAULT_MAX_BODY,
) -> None:
    """Serve until interrupted; the URL is printed once requests are answered."""
    from impl.metrics_wire.service import serve as serving  # noqa: PLC0415 - only this command needs a server
    from impl.metrics_wire.service.database import DatabaseError  # noqa: PLC0415 - as above

    try:
        serving.serve(Settings(database, rule, token or None, max_body), host, port)
    except (DatabaseError, serving.AddressError) as error:
        sys.stderr.write(f"jobs-service: {error}\n")
        raise typer.Exit(_FAILED) from None


def main() -> None:
    """Run the command."""
    app()
