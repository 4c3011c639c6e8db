"""``contracts metrics``: this room's own commands."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from contracts.cli.adapters import AdapterError, opened
from contracts.cli.ending import end, ending
from contracts.report.report import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts.metrics_wire.protocols import LoggerAdapter
    from contracts.metrics_wire.services import Service
    from contracts.metrics_wire.traces import Trace

app = typer.Typer(
    help="What a training logger makes of recorded loops.",
    no_args_is_help=True,
    add_completion=False,
)

_REFERENCE = "impl.metrics_wire.adapter:logger"


@app.callback()
def metrics() -> None:
    """What a training logger makes of recorded loops."""


@app.command("replay")
def replay_command(
    traces: Annotated[list[Path], typer.Argument(help="Recorded logger calls, as JSON Lines.")],
    *,
    adapter: Annotated[str, typer.Option(help="package.module:factory; the reference without it.")] = _REFERENCE,
    service: Annotated[
        str | None, typer.Option(help="replace, merge, append or merge+append; without it each of the first three.")
    ] = None,
) -> None:
    """Replay recorded logger calls, print what was stored, and whether it is what each trace expects."""
    from contracts.metrics_wire.services import Service  # noqa: PLC0415 - heavy imports inside commands
    from contracts.metrics_wire.traces import load  # noqa: PLC0415 - as above

    if service is not None and service not in set(Service):
        end(f"--service takes {', '.join(Service)}, got {service!r}", ExitCode.USAGE)
    services = [Service(service)] if service else [Service.REPLACE, Service.MERGE, Service.APPEND]
    with ending(ExitCode.USAGE, ValueError, OSError):
        loaded = [load(path) for path in traces]
    failed = 0
    with ending(ExitCode.ERROR, AdapterError), opened(adapter) as adapters:
        replays = [(each, trace, kind) for each in adapters for trace in loaded for kind in services]
        for each, trace, kind in replays:
            is_met = True
            for line, fits in _replayed(each, trace, kind):
                typer.echo(line)
                is_met = is_met and fits
            failed += not is_met
    typer.echo(f"{len(replays) - failed} as expected, {failed} not")
    raise typer.Exit(ExitCode.FAILED if failed else ExitCode.HOLDS)


def _replayed(adapter: LoggerAdapter, trace: Trace, service: Service) -> Iterator[tuple[str, bool]]:
    """The lines about one replay, each with whether what it says is as expected."""
    from contracts.metrics_wire.services import probe_of  # noqa: PLC0415 - heavy imports inside commands
    from contracts.metrics_wire.traces import judge, replay  # noqa: PLC0415 - as above

    with probe_of(service) as probe:
        replay(trace, adapter, probe)
        details = (probe.stored() or {}).get("status_details", {})
    metrics = details.get("metrics", {})
    verdict = judge(trace, metrics)
    points = sum(map(len, metrics.values()))
    step = details.get("step", "none")
    yield f"{trace.name} under {service}: {len(metrics)} series, {points} points, last step {step}", True
    for name in ("train_loss", "val_loss"):
        yield f"    {name}: {_steps([point['step'] for point in metrics.get(name, ())])}", True
    yield f"    as expected: {', '.join(verdict.met) or 'nothing'}", True
    for mismatch in verdict.mismatches:
        yield f"    NOT AS EXPECTED: {mismatch}", False
    for key in verdict.not_judged:
        yield f"    not judged: {key}", True


def _steps(steps: list[int]) -> str:
    """Steps in runs: 1-4 6."""
    runs: list[list[int]] = []
    for step in steps:
        if runs and step == runs[-1][-1] + 1:
            runs[-1].append(step)
        else:
            runs.append([step])
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs) or "no points"
