"""The command `jobs-service`: serves, shows the curves of a job as text, and exports its points.

Exit status: 0 done; 1 there is no such job; 2 usage; 3 the database, the address or the service cannot be used.
"""

from __future__ import annotations

import csv
import ipaddress
import json
import sys
from contextlib import nullcontext
from pathlib import Path  # noqa: TC003 - typer evaluates annotations
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from impl.metrics_wire.service.settings import DEFAULT_MAX_BODY, Rule, Settings

if TYPE_CHECKING:
    from impl.metrics_wire.service.schemas import Task

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Keeps the tasks of jobs and their curves.")

_NO_SUCH_JOB = 1
_UNUSABLE = 3
_SPARKLINE = 40
_DEFAULT_DATABASE = "sqlite:///jobs.sqlite"
_COLUMNS = ("workspace", "job", "step", "task", "series", "train_step", "epoch", "value")

_Database = Annotated[
    str | None,
    typer.Option(
        help="sqlite:///FILE, postgresql://USER:PASSWORD@HOST:PORT/NAME, or the path of an SQLite file.",
        show_default=_DEFAULT_DATABASE,
    ),
]
_Token = Annotated[str | None, typer.Option(envvar="JOBS_SERVICE_TOKEN", help="The token of the service, if any.")]
_Job = Annotated[str, typer.Argument(help="Id of the job.")]
_Url = Annotated[str | None, typer.Option(help="Read from the running service at this URL, not from a database.")]


@app.command()
def serve(
    database: _Database = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on, 0 for a free one.")] = 8321,
    rule: Annotated[Rule, typer.Option(help="What an update does to the stored status_details.")] = Rule.REPLACE,
    token: _Token = None,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes that a request's body may have.")] = DEFAULT_MAX_BODY,
) -> None:
    """Serve until interrupted; the URL is printed once requests are answered."""
    from impl.metrics_wire.service import serve as serving  # noqa: PLC0415 - only this command needs a server
    from impl.metrics_wire.service.database import DatabaseError  # noqa: PLC0415 - as above

    try:
        settings = Settings(database or _DEFAULT_DATABASE, rule, token, max_body, is_local=_is_loopback(host))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if settings.token is None and not _is_loopback(host):
        sys.stderr.write(f"jobs-service: whoever reaches {host} can read and write every task: give --token\n")
    try:
        serving.serve(settings, host, port)
    except (DatabaseError, serving.AddressError) as error:
        _fail(str(error), _UNUSABLE)


@app.command()
def show(job: _Job, database: _Database = None, url: _Url = None, token: _Token = None) -> None:
    """Show the tasks of a job, each with its curves as text."""
    from rich.console import Console  # noqa: PLC0415 - only this command draws

    from impl.metrics_wire.service.curves import curves, heading  # noqa: PLC0415 - as above

    console = Console(highlight=False, soft_wrap=True)
    for task in _tasks(job, database, url, token):
        console.print(heading(task), markup=False, style="bold")
        if task.error_details:
            console.print(json.dumps(task.error_details), markup=False, style="red")
        console.print(curves(task, _SPARKLINE, ascii_only=console.options.ascii_only))


@app.command()
def export(
    job: _Job,
    as_csv: Annotated[bool, typer.Option("--csv", help="One line a point.")] = False,  # noqa: FBT002 - a flag of typer's
    as_json: Annotated[bool, typer.Option("--json", help="The tasks as the service answers them.")] = False,  # noqa: FBT002 - as above
    output: Annotated[Path | None, typer.Option(help="File to write, by default standard output.")] = None,
    database: _Database = None,
    url: _Url = None,
    token: _Token = None,
) -> None:
    """Write every point of a job's tasks as CSV or JSON."""
    if as_csv == as_json:
        raise typer.BadParameter("give one of --csv and --json")
    tasks = _tasks(job, database, url, token)
    try:
        with output.open("w", encoding="utf-8", newline="") if output else nullcontext(sys.stdout) as file:
            if as_json:
                json.dump([task.model_dump(mode="json", exclude_unset=True) for task in tasks], file, indent=1)
                file.write("\n")
            else:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(_COLUMNS)
                writer.writerows(_lines(tasks))
    except OSError as error:
        _fail(f"cannot write {output or 'the standard output'}: {error.strerror}", _UNUSABLE)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _lines(tasks: list[Task]) -> list[tuple[object, ...]]:
    return [
        (task.workspace, task.job, task.step, task.task, name, point["step"], point["epoch"], repr(point["value"]))
        for task in tasks
        for name, points in (task.status_details.metrics or {}).items()
        for point in points
    ]


def _tasks(job: str, database: str | None, url: str | None, token: str | None) -> list[Task]:
    from impl.metrics_wire.service import source  # noqa: PLC0415 - the server does not need a client
    from impl.metrics_wire.service.database import DatabaseError  # noqa: PLC0415 - as above

    if database and url:
        raise typer.BadParameter("give one of --database and --url")
    try:
        if url:
            tasks = source.tasks_at_service(url, job, token)
        else:
            tasks = source.tasks_in_database(database or _DEFAULT_DATABASE, job)
    except (DatabaseError, source.SourceError) as error:
        _fail(str(error), _UNUSABLE)
    if not tasks:
        _fail(f"there is no job {job!r} in {url or database or _DEFAULT_DATABASE}", _NO_SUCH_JOB)
    return tasks


def _fail(message: str, status: int) -> NoReturn:
    sys.stderr.write(f"jobs-service: {message}\n")
    raise typer.Exit(status)


def main() -> None:
    """Run the command."""
    app()
