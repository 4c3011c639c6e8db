"""How writes reach the disk: on SQLite many at once, on PostgreSQL each in a transaction of its own.

SQLite has one writer at a time, and each commit waits for the disk. One thread takes whatever writes have come since
its last commit, carries out each in a savepoint, and commits them together: none is acknowledged before its commit.
PostgreSQL does this itself, for writers that are independent of each other.
"""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from impl.metrics_wire.service.database import WRITES

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

#: Writes in one commit: a crowd must not keep the first of them waiting for long.
_BATCH = 64
_POSTGRESQL_WRITERS = 8

T = TypeVar("T")


class Commits(Protocol):
    """Carries out writes. Safe between threads."""

    def submit(self, write: Callable[[Connection], T]) -> Future[T]:
        """Carry out a write; the future is done when it is on the disk, or has failed and changed nothing."""

    def close(self) -> None:
        """Carry out what was submitted, and stop."""


def commits_of(engine: Engine) -> Commits:
    """What fits the database."""
    return GroupCommits(engine) if engine.dialect.name == "sqlite" else SeparateCommits(engine)


class SeparateCommits:
    """Each write in a transaction of its own.

    Args:
        engine: The database.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._threads = ThreadPoolExecutor(_POSTGRESQL_WRITERS, "commits")

    def submit(self, write: Callable[[Connection], T]) -> Future[T]:
        """See `Commits`."""
        return self._threads.submit(self._carry_out, write)

    def _carry_out(self, write: Callable[[Connection], T]) -> T:
        with self._engine.connect() as connection, connection.begin():
            return write(connection)

    def close(self) -> None:
        """See `Commits`."""
        self._threads.shutdown()


class _Submitted:
    """A write and the future of its outcome."""

    def __init__(self, write: Callable[[Connection], Any]) -> None:
        self.write = write
        self.future: Future[Any] = Future()
        self.outcome: Any = None
        self.failure: Exception | None = None

    def carry_out(self, connection: Connection) -> None:
        savepoint = connection.begin_nested()
        try:
            self.outcome = self.write(connection)
        except Exception as error:
            # SQLite itself takes the whole transaction back where its disk is full or fails. What was written before
            # is gone with it, and what came now would be in a transaction that nobody has begun.
            if not _in_transaction(connection):
                raise
            savepoint.rollback()
            self.failure = error
        else:
            savepoint.commit()

    def settle(self) -> None:
        if self.failure is None:
            self.future.set_result(self.outcome)
        else:
            self.future.set_exception(self.failure)


def _in_transaction(connection: Connection) -> bool:
    return bool(connection.connection.driver_connection.in_transaction)  # type: ignore[union-attr]  # of `sqlite3`


class GroupCommits:
    """One thread that commits together whatever writes have come since its last commit.

    Args:
        engine: The database.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: queue.SimpleQueue[_Submitted | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="commits", daemon=True)
        self._thread.start()

    def submit(self, write: Callable[[Connection], T]) -> Future[T]:
        """See `Commits`."""
        submitted = _Submitted(write)
        self._waiting.put(submitted)
        return submitted.future

    def close(self) -> None:
        """See `Commits`."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        is_open = True
        while is_open:
            batch = [self._waiting.get()]
            while batch[-1] is not None and len(batch) < _BATCH and not self._waiting.empty():
                batch.append(self._waiting.get())
            is_open = batch[-1] is not None
            self._commit([each for each in batch if each is not None and each.future.set_running_or_notify_cancel()])

    def _commit(self, batch: list[_Submitted]) -> None:
        try:
            with self._engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
                for submitted in batch:
                    submitted.carry_out(connection)
        except Exception as error:  # noqa: BLE001 - none of them is on the disk, and each is told so
            for submitted in batch:
                submitted.failure = error
        for submitted in batch:
            submitted.settle()
