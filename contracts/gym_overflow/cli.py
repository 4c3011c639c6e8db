"""``contracts gym``: this room's own commands."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from contracts.cli.ending import end, ending
from contracts.report.report import ExitCode

if TYPE_CHECKING:
    from contracts.gym_overflow.gym import GymSource

app = typer.Typer(
    help="What NeMo Gym's out-of-context classifier would make of an answer.",
    no_args_is_help=True,
    add_completion=False,
)

_SPEC = "A release (0.7.0), a wheel, a source tree, a file, or 'installed'."


def _progress(line: str) -> None:
    typer.echo(line, err=True)


@app.command("verdict")
def verdict_command(
    *,
    gym: Annotated[str, typer.Option(help=_SPEC)],
    status: Annotated[int, typer.Option(help="HTTP status of the answer.")],
    body: Annotated[str, typer.Option(help="Body of the answer.")],
) -> None:
    """Say what a Gym would decide about one answer, where, and by which expression."""
    from contracts.gym_overflow.gym import GymError, load_gym, verdict  # noqa: PLC0415 - heavy imports inside commands

    with ending(ExitCode.ERROR, GymError):
        source = load_gym(gym, progress=_progress)
        decided = verdict(source, status, body)
    _say_unpinned(source)
    for decision in decided.decisions:
        site = decision.site
        typer.echo(f"{site.file}:{site.line} {site.function}: {_said(overflow=decision.overflow)}")
        typer.echo(f"    {' '.join(site.classifier.source.split())}")
        if decision.overflow:
            typer.echo(f"    then: {_fate(site.handler.finish_reason, site.handler.propagate_flag)}")
    typer.echo(f"{source.name}: {_said(overflow=decided.overflow) if decided.agreement else 'the sites disagree'}")


@app.command("diff")
def diff_command(
    before: Annotated[str, typer.Argument(help=_SPEC)], after: Annotated[str, typer.Argument(help=_SPEC)]
) -> None:
    """Say how the classifier and its handler changed between two Gyms."""
    from contracts.gym_overflow.gym import GymError, diff_sources, load_gym  # noqa: PLC0415 - as above

    with ending(ExitCode.ERROR, GymError):
        sources = [load_gym(spec, progress=_progress) for spec in (before, after)]
        lines = diff_sources(*sources).lines
    for source in sources:
        _say_unpinned(source)
    for line in lines:
        typer.echo(line)


@app.command("replay")
def replay_command(
    corpus: Annotated[Path, typer.Argument(help="Recorded answers, as JSON Lines.")],
    *,
    gym: Annotated[str, typer.Option(help=_SPEC)],
    through: Annotated[str | None, typer.Option(help="'reference': first through the reference middleware.")] = None,
) -> None:
    """Run recorded answers through a Gym's classifier, and first through the reference middleware if asked."""
    from contracts.gym_overflow.gym import GymError, load_gym  # noqa: PLC0415 - as above
    from contracts.gym_overflow.recorded_answers import CorpusError, read_corpus  # noqa: PLC0415 - as above
    from contracts.gym_overflow.replay import replayed, replayed_through_reference  # noqa: PLC0415 - as above
    from contracts.gym_overflow.replay_view import show  # noqa: PLC0415 - as above

    if through not in {None, "reference"}:
        end(f"--through takes 'reference', got {through!r}", ExitCode.USAGE)
    with ending(ExitCode.USAGE, CorpusError):
        rows = read_corpus(corpus)
    with ending(ExitCode.ERROR, GymError), ending(ExitCode.USAGE, CorpusError):
        source = load_gym(gym, progress=_progress)
        found = replayed_through_reference(rows, source) if through else replayed(rows, source)
    show(found)
    raise typer.Exit(ExitCode.HOLDS if found.holds else ExitCode.FAILED)


def _say_unpinned(source: GymSource) -> None:
    if not source.pinned:
        _progress(f"{source.name} is not pinned: {source.path} was read as it is")


def _said(*, overflow: bool) -> str:
    return "overflow" if overflow else "not an overflow"


def _fate(finish_reason: str | None, flag: str | None) -> str:
    ended = "raised" if finish_reason is None else f'an empty completion with finish_reason "{finish_reason}"'
    return f"{ended}, unless {flag} is set" if flag else ended
