"""``contracts numerics``: this room's own commands."""

from __future__ import annotations

from typing import Annotated

import typer

from contracts.report.report import ExitCode

app = typer.Typer(
    help="What rounding the LM head costs between a rollout engine and a trainer.",
    no_args_is_help=True,
    add_completion=False,
)


@app.callback()
def numerics() -> None:
    """Keep `compare` a command of its own while it is the only one."""


@app.command("compare")
def compare_command(
    *,
    rollout: Annotated[
        str, typer.Option(help="Factory of the rollout engine's adapter, package.module:factory.")
    ] = "impl.numerics.adapter:torch_rollout",
    train: Annotated[
        str, typer.Option(help="Factory of the trainer's adapter.")
    ] = "impl.numerics.adapter:torch_trainer",
    seeds: Annotated[int, typer.Option(min=1, help="Checkpoints to compare on.")] = 5,
    sequences: Annotated[int, typer.Option(min=1, help="Sequences sampled on each.")] = 16,
    prompt: Annotated[int, typer.Option(min=2, help="Tokens of each prompt.")] = 8,
    generated: Annotated[int, typer.Option(min=1, help="Tokens sampled after each.")] = 24,
) -> None:
    """Compare both heads in bf16, one of them in fp32, and both in fp32, on the same checkpoints.

    The last row is what the two bodies alone make of it: exact heads on each engine's own hidden states. Exits
    with 1 unless both in fp32 is best.
    """
    from contracts.cli.adapters import AdapterError, opened  # noqa: PLC0415 - heavy imports inside commands
    from contracts.cli.ending import ending  # noqa: PLC0415 - its package imports this module
    from contracts.numerics.cases import ParityCase  # noqa: PLC0415 - as above
    from contracts.numerics.comparing import compare  # noqa: PLC0415 - as above
    from contracts.numerics.comparison_view import table, verdicts  # noqa: PLC0415 - as above
    from contracts.numerics.pair import PairAdapter  # noqa: PLC0415 - as above
    from contracts.report.terminal import output  # noqa: PLC0415 - as above

    case = ParityCase(sequences=sequences, prompt=prompt, generated=generated)
    with ending(ExitCode.ERROR, AdapterError), opened(rollout) as rollouts, opened(train) as trainers:
        with ending(ExitCode.USAGE, ValueError):
            pair = PairAdapter(train=trainers[0], rollout=rollouts[0])
        with ending(ExitCode.ERROR, Exception):
            rows = compare(pair, case, seeds)
    console = output()
    console.print(table(rows, pair, plain=not console.is_terminal))
    holds, lines = verdicts(rows)
    for line in lines:
        typer.echo(line)
    typer.echo("both heads in fp32: best" if holds else "both heads in fp32: not best")
    raise typer.Exit(ExitCode.HOLDS if holds else ExitCode.FAILED)
