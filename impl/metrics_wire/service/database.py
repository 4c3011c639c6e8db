"""Opening the database: its address, its connections, and the version of its tables."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import stamina
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Option of a connection that is going to write.
WRITES = "jobs_service_writes"

_BUSY_MS = 30_000
#: What is left of an SQLite error code without its details.
_PRIMARY = 0xFF
_CONNECT_S = 10
#: One number for all services of one database, while they look at the version of its tables.
_MIGRATION_LOCK = 0x6A6F6273
_MIGRATIONS = Path(__file__).parent / "migrations"


class DatabaseError(Exception):
    """The database cannot be used; the message says why and what to do."""


def database_url(address: str) -> URL:
    """The URL of a database.

    Args:
        address: ``sqlite:///FILE``, ``postgresql://USER:PASSWORD@HOST:PORT/NAME``, or the path of an SQLite file.

    Raises:
        DatabaseError: If it is neither.
    """
    try:
        url = make_url(address) if "://" in address else URL.create("sqlite", database=address)
    except (ArgumentError, ValueError) as error:
        raise DatabaseError(f"{address!r} is no URL of a database: {error}") from None
    backend = "postgresql" if url.drivername == "postgres" else url.get_backend_name()
    if backend == "sqlite":
        if not url.database or url.database == ":memory:":
            raise DatabaseError("a database in memory is lost with its process: name a file, sqlite:///jobs.sqlite")
        return url.set(drivername="sqlite+pysqlite")
    if backend == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    raise DatabaseError(f"{backend} is not supported: use sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME")


def open_database(address: str, *, for_writing: bool = True) -> Engine:
    """Connect to a database whose tables have the version of this code.

    Args:
        address: As for `database_url`.
        for_writing: Whether an empty or older database is brought to this version; otherwise it is refused.

    Raises:
        DatabaseError: If it cannot be reached or used, or if its tables are of another version.
    """
    url = database_url(address)
    if not for_writing and url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise DatabaseError(f"there is no database {url.database}")
    engine = _sqlite(url, for_writing=for_writing) if url.get_backend_name() == "sqlite" else _postgresql(url)
    shown = url.set(drivername=url.get_backend_name()).render_as_string(hide_password=True)
    try:
        with engine.connect().execution_options(**{WRITES: for_writing}) as connection, connection.begin():
            _bring_up_to_date(connection, shown, for_writing=for_writing)
    except DatabaseError:
        engine.dispose()
        raise
    except SQLAlchemyError as error:
        engine.dispose()
        reason = error.orig if isinstance(error, DBAPIError) else error
        raise DatabaseError(f"cannot use the database {shown}: {str(reason).strip()}") from error
    return engine


def _sqlite(url: URL, *, for_writing: bool) -> Engine:
    # A reader never waits for a writer, and there are no more readers than threads that serve.
    engine = create_engine(url, pool_size=4, max_overflow=-1)

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions are begun below, also around statements that change tables
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        # Whoever only reads leaves a file as it is, which may be no database of ours.
        if for_writing and (mode := _keep_write_ahead_log(cursor)) != "wal":
            raise DatabaseError(
                f"{url.database} cannot keep a write-ahead log, its journal is {mode!r}: use a local disk"
            )
        cursor.execute("PRAGMA synchronous = FULL")  # in WAL mode NORMAL may lose what was acknowledged
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A transaction that reads first and then writes would fail where another one has written in between.
        writes = connection.get_execution_options().get(WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _is_busy(error: Exception) -> bool:
    return isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode & _PRIMARY == sqlite3.SQLITE_BUSY


# SQLite does not wait for others while it changes the journal, whatever the timeout: of several services that open a
# new file at once, all but one would fail.
@stamina.retry(on=_is_busy, attempts=None, timeout=_BUSY_MS / 1000, wait_initial=0.01, wait_max=0.5, wait_jitter=0.05)
def _keep_write_ahead_log(cursor: sqlite3.Cursor) -> str:
    mode: str = cursor.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    return mode


def _postgresql(url: URL) -> Engine:
    try:
        engine = create_engine(
            url, pool_size=8, max_overflow=8, pool_pre_ping=True, connect_args={"connect_timeout": _CONNECT_S}
        )
    except ModuleNotFoundError as error:
        raise DatabaseError(f"PostgreSQL needs {error.name}: pip install 'rl-contracts[postgresql]'") from None
    return engine


def _bring_up_to_date(connection: Connection, shown: str, *, for_writing: bool) -> None:
    if for_writing and connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _MIGRATION_LOCK})
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)
    head = script.get_current_head()
    current = MigrationContext.configure(connection).get_current_revision()
    if current == head:
        return
    if current is not None and current not in {each.revision for each in script.walk_revisions()}:
        raise DatabaseError(
            f"the tables in {shown} have version {current}, this service knows them up to {head}: "
            "use the newer service that made them"
        )
    if not for_writing:
        found = "no tables of this service" if current is None else f"tables of version {current}, older than {head}"
        raise DatabaseError(f"{shown} has {found}: `jobs-service serve --database` brings it up to date")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection that sees the database as it is at one moment, whatever is written meanwhile."""
    is_postgresql = engine.dialect.name == "postgresql"
    options: dict[str, Any] = (
        {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True} if is_postgresql else {}
    )
    with engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection
