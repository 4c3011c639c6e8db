"""The tables. Whatever a client may send as it likes is kept as JSON text, so that it is read as it was written."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Float, ForeignKey, Integer, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

ID_LENGTH = 128
PHASE_LENGTH = 64


class Base(DeclarativeBase):
    """Base of all tables."""


class TaskRow(Base):
    """A task, without its series.

    ``has_written_series`` tells whether an update has sent ``metrics`` that no later one has dropped. Times are
    microseconds since the epoch, in UTC. The columns from ``phase`` on repeat what the snapshot says, for the list.
    """

    __tablename__ = "tasks"
    __table_args__ = (UniqueConstraint("workspace", "job", "step", "task", name="uq_tasks_path"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    workspace: Mapped[str] = mapped_column(String(ID_LENGTH))
    job: Mapped[str] = mapped_column(String(ID_LENGTH), index=True)
    step: Mapped[str] = mapped_column(String(ID_LENGTH))
    task: Mapped[str] = mapped_column(String(ID_LENGTH))
    status: Mapped[str] = mapped_column(String(16))
    status_details: Mapped[str] = mapped_column(Text)
    error_details: Mapped[str | None] = mapped_column(Text)
    error_stack: Mapped[str | None] = mapped_column(Text)
    has_written_series: Mapped[bool] = mapped_column(Boolean)
    revision: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[int] = mapped_column(BigInteger)
    updated_at: Mapped[int] = mapped_column(BigInteger)
    phase: Mapped[str | None] = mapped_column(String(PHASE_LENGTH))
    train_step: Mapped[int | None] = mapped_column(BigInteger)
    max_steps: Mapped[int | None] = mapped_column(BigInteger)
    percentage_done: Mapped[float | None] = mapped_column(Float)


class SeriesRow(Base):
    """A series of a task, which may have no points.

    ``name`` is UTF-8, as bytes: the text of PostgreSQL cannot hold U+0000, the name of a metric can. ``appended`` tells
    whether it was ever appended to.
    """

    __tablename__ = "series"
    __table_args__ = (UniqueConstraint("task_id", "name", name="uq_series_name"),)

    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    number: Mapped[int] = mapped_column(Integer, primary_key=True)
    name: Mapped[bytes] = mapped_column(LargeBinary)
    appended: Mapped[bool] = mapped_column(Boolean)


class PointRow(Base):
    """A point of a series; its place in the key is its place in the curve.

    ``value`` is the number's JSON text: integers of any length and floats stay what they were. ``appended`` tells
    whether an append or an update has brought it.
    """

    __tablename__ = "points"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012 - as SQLAlchemy wants it

    task_id: Mapped[int] = mapped_column(Integer, primary_key=True)
    series_number: Mapped[int] = mapped_column(Integer, primary_key=True)
    step: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    epoch: Mapped[int] = mapped_column(BigInteger)
    value: Mapped[str] = mapped_column(Text)
    appended: Mapped[bool] = mapped_column(Boolean)
