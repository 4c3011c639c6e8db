"""Writes reach the disk together or alone, and none disturbs another."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import OperationalError

from impl.metrics_wire.service.commits import Commits, GroupCommits, SeparateCommits, commits_of
from impl.metrics_wire.service.database import open_database, reading
from impl.metrics_wire.service.schemas import TaskUpdate
from impl.metrics_wire.service.settings import Rule
from impl.metrics_wire.service.store import TaskKey, update_task
from impl.metrics_wire.service.tables import TaskRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection, Engine


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    is_sqlite = request.param == "sqlite"
    address = tmp_path / "jobs.sqlite" if is_sqlite else request.getfixturevalue("postgresql").create_database()
    engine = open_database(str(address))
    yield engine
    engine.dispose()


@pytest.fixture
def commits(engine: Engine) -> Iterator[Commits]:
    commits = commits_of(engine)
    yield commits
    commits.close()


def creates(job: str) -> Callable[[Connection], Any]:
    key = TaskKey("research", job, "train", "main")
    return lambda connection: update_task(connection, key, TaskUpdate(), Rule.REPLACE)


def jobs(engine: Engine) -> set[str]:
    with reading(engine) as connection:
        return set(connection.scalars(select(TaskRow.job)))


def test_each_database_gets_the_commits_that_fit_it(engine: Engine, commits: Commits) -> None:
    assert type(commits) is (GroupCommits if engine.dialect.name == "sqlite" else SeparateCommits)


def test_a_write_that_fails_changes_nothing_and_stops_no_other(engine: Engine, commits: Commits) -> None:
    hold = threading.Event()

    def waits(connection: Connection) -> None:
        hold.wait(30)
        creates("waiting")(connection)

    def fails(connection: Connection) -> None:
        creates("failing")(connection)
        raise ValueError("after it has written")

    futures = [commits.submit(write) for write in (waits, creates("before"), fails, creates("after"))]
    hold.set()
    futures[0].result(30)
    assert futures[1].result(30).job == "before"
    with pytest.raises(ValueError, match="after it has written"):
        futures[2].result(30)
    assert futures[3].result(30).job == "after"
    assert jobs(engine) == {"waiting", "before", "after"}


def test_what_is_done_is_seen_by_everyone(engine: Engine, commits: Commits) -> None:
    for number in range(20):
        commits.submit(creates(f"job-{number}")).result(30)
        with reading(engine) as connection:
            assert connection.scalar(select(func.count()).select_from(TaskRow)) == number + 1


def test_what_was_submitted_is_carried_out_before_the_end(engine: Engine) -> None:
    commits = commits_of(engine)
    futures = [commits.submit(creates(f"job-{number}")) for number in range(100)]
    commits.close()
    assert all(future.done() for future in futures)
    assert len(jobs(engine)) == 100


def test_nothing_is_acknowledged_whose_commit_fails(tmp_path: Path) -> None:
    engine = open_database(str(tmp_path / "jobs.sqlite"))
    commits = GroupCommits(engine)
    begun = threading.Event()

    def breaks(connection: Connection) -> None:
        begun.wait(30)
        # A constraint that is only looked at when the transaction is committed.
        connection.execute(text("PRAGMA defer_foreign_keys = ON"))
        connection.execute(text("INSERT INTO series (task_id, number, name, appended) VALUES (99, 1, x'61', 1)"))

    broken, beside = commits.submit(breaks), commits.submit(creates("beside"))
    begun.set()
    with pytest.raises(Exception, match="FOREIGN KEY"):
        broken.result(30)
    together = beside.exception(30) is not None
    assert jobs(engine) == (set() if together else {"beside"})
    commits.submit(creates("afterwards")).result(30)
    assert "afterwards" in jobs(engine)
    commits.close()
    engine.dispose()


def test_nothing_is_acknowledged_that_a_full_disk_takes_back(tmp_path: Path) -> None:
    engine = open_database(str(tmp_path / "jobs.sqlite"))
    commits = GroupCommits(engine)
    begun = threading.Event()

    def waits(connection: Connection) -> None:
        begun.wait(30)
        creates("beside")(connection)

    def fills(connection: Connection) -> None:
        pages = connection.scalar(text("PRAGMA page_count"))
        connection.execute(text(f"PRAGMA max_page_count = {pages}"))
        try:
            # Of one row and without a constraint: SQLite can take back such a statement only with its transaction.
            connection.execute(text("INSERT INTO alembic_version VALUES (printf('%.*c', 1000000, 'x'))"))
        finally:
            connection.execute(text("PRAGMA max_page_count = 1073741823"))

    futures = [commits.submit(write) for write in (waits, fills, creates("behind"))]
    begun.set()
    for future in futures:
        with pytest.raises(OperationalError, match="full"):
            future.result(30)
    assert jobs(engine) == set()
    commits.submit(creates("afterwards")).result(30)
    assert jobs(engine) == {"afterwards"}
    commits.close()
    engine.dispose()


def test_a_database_that_is_gone_fails_each_write_and_comes_back(engine: Engine, commits: Commits) -> None:
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE tasks RENAME TO hidden"))
    with pytest.raises(Exception, match="tasks"):
        commits.submit(creates("lost")).result(30)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE hidden RENAME TO tasks"))
    commits.submit(creates("kept")).result(30)
    assert jobs(engine) == {"kept"}
