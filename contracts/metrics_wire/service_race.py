"""Writers that write at the same time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from contracts.metrics_wire.service_task import is_acknowledged, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from contracts.check import Check
    from contracts.metrics_wire.protocols import ServiceAnswer
    from contracts.metrics_wire.service_cases import Race

#: Seconds for which a writer waits for the others to be ready. Wide: it only ends a race whose other writers failed.
_READY_S = 30.0


def at_once(check: Check[Any], race: Race, write: Callable[[int, int], ServiceAnswer]) -> None:
    """Let every writer of the race write; each of its writes begins when all are ready for theirs.

    Args:
        check: The check that looks; it fails if a write is not acknowledged.
        race: The race.
        write: Called as ``write(writer, number)``, both from 0.
    """
    ready = threading.Barrier(race.writers, timeout=_READY_S)
    errors: list[Exception] = []

    def write_all(writer: int) -> None:
        for number in range(race.writes):
            ready.wait()
            answer = write(writer, number)
            if not is_acknowledged(answer):
                raise check.fail(
                    "a concurrent write was not taken", got=shown(answer), want="2xx", writer=writer, write=number
                )

    def run(writer: int) -> None:
        try:
            write_all(writer)
        except Exception as error:  # noqa: BLE001 - raised below, where the check looks
            errors.append(error)
            ready.abort()

    threads = [threading.Thread(target=run, args=(writer,), daemon=True) for writer in range(race.writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = [error for error in errors if not isinstance(error, threading.BrokenBarrierError)]
    for error in (*told, *errors):
        raise error
