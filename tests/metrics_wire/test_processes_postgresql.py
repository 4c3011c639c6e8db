"""The PostgreSQL of the tests: private, empty databases, and gone with whoever started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy

from contracts.metrics_wire.waiting import holds_within

if TYPE_CHECKING:
    import postgresql as module

COMMAND = [sys.executable, Path(__file__).parent / "processes" / "postgresql.py", "--", sys.executable, "-c"]


def accepts(url: str) -> bool:
    engine = sqlalchemy.create_engine(url)
    try:
        with engine.connect():
            return True
    except sqlalchemy.exc.OperationalError:
        return False
    finally:
        engine.dispose()


def test_every_database_is_new_and_nothing_opens_it_without_its_password(postgresql: module.PostgreSQL) -> None:
    first, second = postgresql.create_database(), postgresql.create_database()
    assert first != second
    engine = sqlalchemy.create_engine(first)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("create table only_here (id int)"))
    engine.dispose()
    engine = sqlalchemy.create_engine(second)
    assert sqlalchemy.inspect(engine).get_table_names() == []
    engine.dispose()
    guessed = sqlalchemy.make_url(first).set(password="guessed")  # noqa: S106 - a wrong one, as the test wants it
    assert not accepts(guessed.render_as_string(hide_password=False))


def test_a_command_finds_the_server_and_its_status_is_the_commands(postgresql: module.PostgreSQL) -> None:
    assert postgresql.url.startswith("postgresql+psycopg://")
    code = "import os, sqlalchemy as s; s.create_engine(os.environ['CONTRACTS_POSTGRESQL']).connect(); exit(7)"
    assert subprocess.run([*COMMAND, code], check=False).returncode == 7  # noqa: S603 - our own command


def test_the_server_ends_with_a_command_that_is_killed(postgresql: module.PostgreSQL) -> None:
    assert accepts(postgresql.url)
    code = "import os, time; print(os.environ['CONTRACTS_POSTGRESQL'], flush=True); time.sleep(600)"
    with tempfile.TemporaryDirectory() as folder:  # what is killed leaves its files behind
        Path(folder).chmod(0o755)
        with subprocess.Popen(  # noqa: S603 - our own command
            [*COMMAND, code],
            env={**os.environ, "TMPDIR": folder},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert accepts(url)
            os.killpg(process.pid, signal.SIGKILL)
        assert holds_within(30.0, lambda: not accepts(url))
        assert holds_within(30.0, lambda: not list(Path(folder).glob("*/data/postmaster.pid")))
