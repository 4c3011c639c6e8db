"""Which contracts, adapters and Gyms a command line asks for."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from contracts.cli.adapters import AdapterError, opened
from contracts.cli.ending import end, ending
from contracts.failure import Invocation, invoked_as
from contracts.known import known_failures_in
from contracts.report.report import ExitCode
from contracts.rooms import RoomUnavailableError, load, names
from contracts.verification import Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from contracts.contract import Contract

PYPROJECT = Path("pyproject.toml")


def split(text: str | None) -> tuple[str, ...]:
    """The parts of a comma-separated option."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


@contextmanager
def targets(
    rooms: Sequence[str], *, adapter: str | None, gym: str | None = None, only: str | None = None
) -> Iterator[list[Target]]:
    """Everything that a command line asks for, with its adapters open.

    Without ``adapter`` the reference is used; with it exactly one contract may be meant. Known failures are read from
    the ``pyproject.toml`` of the current directory and belong to that project's own adapter.
    """
    for option, given in (("--adapter", adapter), ("--gym", gym), ("--only", only)):
        # An empty variable of a CI job must not stand for the default: the reference, or everything.
        if given is not None and not split(given):
            end(f"{option} is empty; leave it out, or name one", ExitCode.USAGE)
    wanted = frozenset(split(only))
    with ending(ExitCode.USAGE, ValueError), ending(ExitCode.ERROR, RoomUnavailableError):
        chosen = _contracts(rooms, wanted)
        own = {contract.name: known_failures_in(PYPROJECT, contract) for contract in chosen} if adapter else {}
    if adapter and len(chosen) > 1:
        end(f"--adapter needs one side: {' or '.join(contract.name for contract in chosen)}", ExitCode.USAGE)
    options = ("--gym", gym) if gym else ()
    with ending(ExitCode.ERROR, AdapterError), ExitStack() as stack:
        _select_gyms(stack, chosen, gym)
        stack.enter_context(invoked_as(Invocation(adapter, options)))
        found = []
        for contract in chosen:
            adapters = stack.enter_context(opened(adapter or contract.reference))
            ids = {check.id for check in contract.at()}
            for built in adapters:
                with ending(ExitCode.ERROR, ValueError):
                    declared = contract.known(getattr(built, "known_failures", {}))
                    contract.capabilities_of(built)
                found.append(Target(contract, built, None, wanted & ids, {**declared, **own.get(contract.name, {})}))
        yield found


def _contracts(rooms: Sequence[str], only: frozenset[str]) -> list[Contract[Any]]:
    every = list(dict.fromkeys(name for room in rooms or (None,) for name in names(room)))
    loaded = [load(name) for name in every]
    if not only:
        return loaded
    having = [contract for contract in loaded if only & {check.id for check in contract.at()}]
    found = {check.id for contract in having for check in contract.at()}
    if missing := only - found:
        raise ValueError(f"no check {', '.join(sorted(missing))} in {', '.join(every)}; `contracts list` shows all")
    return having


def _select_gyms(stack: ExitStack, chosen: Sequence[Contract[Any]], gym: str | None) -> None:
    if not any(contract.name.startswith("gym_overflow.") for contract in chosen):
        if gym:
            end("--gym concerns the room gym_overflow only", ExitCode.USAGE)
        return
    from contracts.gym_overflow.gym import GymError  # noqa: PLC0415 - only for this room
    from contracts.gym_overflow.selection import selected  # noqa: PLC0415 - only for this room

    with ending(ExitCode.ERROR, GymError):
        stack.enter_context(selected(split(gym), progress=lambda line: typer.echo(line, err=True)))
