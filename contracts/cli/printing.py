"""Print a run as it happens, and its verdict."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, NoReturn

import typer

from contracts.cli.ending import end, ending
from contracts.cli.progress import progress
from contracts.report.records import Header, MutantRecord, Outcome, Record, Result
from contracts.report.report import ExitCode, Report
from contracts.report.stream import write
from contracts.report.terminal import output, show

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def print_and_exit(
    events: Iterator[Record | Exception], *, total: int, unit: str, report: Path | None, html: Path | None
) -> NoReturn:
    """Follow a run to its end: write its records as they come, show progress, print the tables and the totals.

    Ctrl-C ends it early: what was found is shown, the report stays without a footer, and the run is incomplete.
    """
    for option, path in (("--report", report), ("--html", html)):
        if path is not None and not path.parent.is_dir():
            end(f"{option}: there is no folder {path.parent}", ExitCode.USAGE)
    whole: Report | None = None
    with ExitStack() as stack, ending(ExitCode.USAGE, OSError), suppress(KeyboardInterrupt):
        stream = stack.enter_context(report.open("w", encoding="utf-8")) if report else None
        advance = stack.enter_context(progress(total, unit))
        for event in events:
            if isinstance(event, Exception):
                continue
            if stream is not None:
                write(event, stream)
            if isinstance(event, Header):
                whole = Report(event)
                continue
            assert whole is not None  # noqa: S101 - a stream begins with its header
            whole.add(event)
            if isinstance(event, Result):
                advance(f"{event.check} on {event.subject}: {event.outcome}")
            elif isinstance(event, MutantRecord):
                advance(f"{event.mutant} on {event.subject}: {event.proof}")
    assert whole is not None  # noqa: S101 - a stream begins with its header
    if whole.footer is None:
        show(whole, output())
        typer.echo(whole.totals)
        end(f"interrupted after {len(whole.results) + len(whole.mutants)} of {total} {unit}", ExitCode.INCOMPLETE)
    finish(whole, html=html)


def finish(whole: Report, *, html: Path | None) -> NoReturn:
    """Print a complete report and exit with its verdict."""
    if html is not None:
        from contracts.report.html import as_html  # noqa: PLC0415 - jinja2 is needed only here

        with ending(ExitCode.USAGE, OSError):
            html.write_text(as_html(whole), encoding="utf-8")
    console = output()
    show(whole, console)
    for line in _asides(whole):
        console.print(line)
    typer.echo(whole.totals)
    raise typer.Exit(whole.exit_code)


def _asides(whole: Report) -> Iterator[str]:
    if whole.outcomes[Outcome.ERROR]:
        yield f"{whole.outcomes[Outcome.ERROR]} errors: the adapter or the harness broke, so these checks say nothing"
    if whole.not_run:
        yield f"{len(whole.not_run)} checks were asked for and did not run, so the run is incomplete"
    should = sum(result.outcome is Outcome.FAILED and result.level == "SHOULD" for result in whole.results)
    if should:
        yield f"{should} of the failed checks are SHOULD and do not fail the run"
    proofs = whole.proofs
    if proofs["held"] or proofs["refused"]:
        yield f"controls: {proofs['held']} held, {proofs['refused']} refused"
