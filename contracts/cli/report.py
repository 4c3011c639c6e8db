"""``contracts report``."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from contracts.cli.ending import end, ending
from contracts.cli.printing import finish
from contracts.report.combination import combined
from contracts.report.report import ExitCode
from contracts.report.stream import ReportError, TruncatedReportError, read, schema


def report(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Reports to view, or folders of them; several are combined.")
    ] = None,
    *,
    html: Annotated[Path | None, typer.Option(help="Write one HTML page here.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write Markdown here.")] = None,
    badge: Annotated[Path | None, typer.Option(help="Write a shields.io endpoint badge here.")] = None,
    show_schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of a report and exit.")] = False,
) -> None:
    """Show reports again, combined, and in other forms."""
    if show_schema:
        typer.echo(json.dumps(schema(), indent=2))
        raise typer.Exit
    if not files:
        end("name at least one report", ExitCode.USAGE)
    try:
        whole = combined(map(read, _each(files)))
    except TruncatedReportError as error:
        end(str(error), ExitCode.INCOMPLETE)
    except ReportError as error:
        end(str(error), ExitCode.ERROR)
    with ending(ExitCode.USAGE, OSError):
        if markdown is not None:
            from contracts.report.markdown import as_markdown  # noqa: PLC0415 - one view at a time

            markdown.write_text(as_markdown(whole), encoding="utf-8")
        if badge is not None:
            from contracts.report.badge import as_badge  # noqa: PLC0415 - one view at a time

            badge.write_text(as_badge(whole), encoding="utf-8")
    finish(whole, html=html)


def _each(files: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in files:
        inside = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        if not inside:
            end(f"there is no report, no .jsonl, in {path}", ExitCode.USAGE)
        found += inside
    return found
