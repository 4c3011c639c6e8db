"""A trace file: what one run of a loop called, and what a right logger ends up with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.protocols import Schedule

if TYPE_CHECKING:
    from pathlib import Path

_CALLS = frozenset(
    {
        "process_start",
        "log_hyperparams",
        "log_metrics",
        "log_histogram",
        "log_plot",
        "finish",
        "loop_return",
        "loop_raise",
        "sigkill",
    }
)


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded run.

    Attributes:
        name: Name of the scenario.
        algorithm: ``dpo`` or ``grpo``; whatever is not DPO runs under the GRPO driver.
        schedule: The run's schedule.
        expect: What a right logger ends up with.
        processes: The calls of each process of the run, one after the other.
    """

    name: str
    algorithm: str
    schedule: Schedule
    expect: dict[str, Any]
    processes: tuple[tuple[dict[str, Any], ...], ...]


def load(path: Path) -> Trace:
    """Read a trace file.

    Raises:
        ValueError: If it is not a trace; the message names the line.
    """
    lines = [_line(path, number, text) for number, text in enumerate(path.read_text().splitlines(), start=1)]
    if not lines or lines[0].get("call") != "meta" or not isinstance(lines[0].get("expect"), dict):
        raise ValueError(f"{path}:1: the first line of a trace is its meta line, with an expect object")
    meta, *calls = lines
    processes: list[list[dict[str, Any]]] = []
    for number, call in enumerate(calls, start=2):
        if call.get("call") not in _CALLS:
            raise ValueError(f"{path}:{number}: unknown call {call.get('call')!r}")
        if call["call"] == "process_start":
            processes.append([])
        elif not processes:
            raise ValueError(f"{path}:{number}: a call before the first process_start")
        else:
            processes[-1].append(call)
    return Trace(
        name=meta.get("trace", path.stem),
        algorithm="dpo" if str(meta.get("loop", "")).startswith("dpo") else "grpo",
        schedule=Schedule(
            max_steps=meta.get("max_steps") or 0,
            num_epochs=meta.get("num_epochs"),
            val_period=meta.get("val_period") or 0,
            steps_per_epoch=meta.get("steps_per_epoch"),
        ),
        expect=meta["expect"],
        processes=tuple(tuple(process) for process in processes),
    )


def _line(path: Path, number: int, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{path}:{number}: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path}:{number}: a line of a trace is an object")  # noqa: TRY004 - the file is wrong, not a type
    return value
