"""The database: its address, its tables from an empty or older one, and the ones that are refused."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from live_service import JOBS, live
from sqlalchemy import text

from impl.metrics_wire.service import database as databases
from impl.metrics_wire.service.database import WRITES, DatabaseError, database_url, open_database
from impl.metrics_wire.service.tables import Base

if TYPE_CHECKING:
    from pathlib import Path

LATEST = "0002"


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'jobs.sqlite'}"
    return request.getfixturevalue("postgresql").create_database()


def make_version(address: str, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bring an empty database to an older version, as the service of its time did."""
    upgrade = command.upgrade
    with monkeypatch.context() as patched:
        patched.setattr(databases.command, "upgrade", lambda config, _head: upgrade(config, version))
        open_database(address).dispose()


def test_the_migrations_end_in_the_tables_that_the_code_uses(empty: str) -> None:
    engine = open_database(empty)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert context.get_current_revision() == LATEST
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()
    open_database(empty).dispose()


def test_an_older_database_is_brought_up_to_date_with_what_it_holds(
    empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_version(empty, "0001", monkeypatch)
    engine = databases.create_engine(database_url(empty))
    details = [
        '{"phase": "training", "step": 29, "max_steps": 50, "percentage_done": 58}',
        '{"phase": [], "step": true}',
        f'{{"phase": "{"x" * 65}", "step": {10**30}, "max_steps": -1, "percentage_done": {10**300}}}',
    ]
    with engine.begin() as connection:
        for number, each in enumerate(details, start=1):
            connection.execute(
                text(
                    "INSERT INTO tasks (id, workspace, job, step, task, status, status_details, has_written_series, "
                    "revision, created_at, updated_at) VALUES (:n, 'research', :job, 'train', 'main', 'active', "
                    ":details, :no, 1, 1, :n)"
                ),
                {"n": number, "job": f"old-{number}", "details": each, "no": False},
            )
        connection.execute(
            text("INSERT INTO series (task_id, number, name, appended) VALUES (1, 1, :name, :yes)"),
            {"name": b"loss", "yes": True},
        )
        connection.execute(
            text(
                "INSERT INTO points (task_id, series_number, step, epoch, value, appended) "
                "VALUES (1, 1, 29, 1, '0.5', :yes)"
            ),
            {"yes": True},
        )
    engine.dispose()
    with pytest.raises(DatabaseError, match="older than 0002: `jobs-service serve"):
        open_database(empty, for_writing=False)
    with live(empty) as service:
        assert service.series("old-1") == {"train_loss": [], "val_loss": [], "loss": [(29, 0.5)]}
        third, second, first = service.http.get(JOBS).json()["tasks"]
        assert (first["phase"], first["train_step"], first["max_steps"], first["percentage_done"]) == (
            "training",
            29,
            50,
            58,
        )
        assert (second["phase"], second["train_step"]) == (None, None)
        assert (third["phase"], third["train_step"], third["max_steps"]) == (None, None, None)
        assert third["percentage_done"] == 1e300


def test_a_newer_database_is_refused_and_left_alone(empty: str) -> None:
    engine = open_database(empty)
    with engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    for for_writing in (True, False):
        with pytest.raises(DatabaseError, match="have version 9999, this service knows them up to 0002"):
            open_database(empty, for_writing=for_writing)


def test_services_that_start_together_on_an_empty_database_all_start(empty: str) -> None:
    outcomes: list[object] = []

    def start() -> None:
        try:
            open_database(empty).dispose()
            outcomes.append(None)
        except DatabaseError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [None] * 4


def test_a_service_waits_for_whoever_writes_to_a_file_without_a_write_ahead_log(tmp_path: Path) -> None:
    file = tmp_path / "jobs.sqlite"
    other = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.5, other.execute, ["COMMIT"])
    release.start()
    open_database(str(file)).dispose()
    assert not other.in_transaction
    release.join()
    other.close()


def test_whoever_only_reads_makes_no_database(empty: str, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=r"there is no database|has no tables of this service"):
        open_database(empty, for_writing=False)
    assert list(tmp_path.iterdir()) == []


def test_whoever_only_reads_leaves_the_database_of_others_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "others.sqlite"
    with closing(sqlite3.connect(file)) as others:
        others.execute("CREATE TABLE theirs (a)")
    before = file.read_bytes()
    with pytest.raises(DatabaseError, match="has no tables of this service"):
        open_database(str(file), for_writing=False)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("sqlite://", "name a file"),
        (":memory:", "name a file"),
        ("mysql://host/name", "mysql is not supported"),
        ("nonsense://", "nonsense is not supported"),
        ("sqlite:///nowhere/at/all.sqlite", "unable to open"),
        ("postgresql://someone:hidden@127.0.0.1:1/jobs", "connection failed"),
        ("postgresql://host:port/jobs", "no URL of a database"),
    ],
)
def test_an_address_that_cannot_be_used_is_told_without_its_password(address: str, message: str) -> None:
    with pytest.raises(DatabaseError, match=message) as failure:
        open_database(address)
    assert "hidden" not in str(failure.value)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "jobs.sqlite"
    file.write_text("no database, however long its text may be" * 100)
    with pytest.raises(DatabaseError, match="not a database"):
        open_database(str(file))


def test_what_is_acknowledged_is_on_the_disk(tmp_path: Path) -> None:
    engine = open_database(str(tmp_path / "jobs.sqlite"))
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    engine.dispose()
