"""Tasks, their series and their points."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "tasks",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("workspace", sa.String(128), nullable=False),
        sa.Column("job", sa.String(128), nullable=False),
        sa.Column("step", sa.String(128), nullable=False),
        sa.Column("task", sa.String(128), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("status_details", sa.Text, nullable=False),
        sa.Column("error_details", sa.Text),
        sa.Column("error_stack", sa.Text),
        sa.Column("has_written_series", sa.Boolean, nullable=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("workspace", "job", "step", "task", name="uq_tasks_path"),
    )
    op.create_index("ix_tasks_job", "tasks", ["job"])
    op.create_table(
        "series",
        sa.Column("task_id", sa.Integer, sa.ForeignKey("tasks.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("name", sa.LargeBinary, nullable=False),
        sa.Column("appended", sa.Boolean, nullable=False),
        sa.UniqueConstraint("task_id", "name", name="uq_series_name"),
    )
    op.create_table(
        "points",
        sa.Column("task_id", sa.Integer, primary_key=True),
        sa.Column("series_number", sa.Integer, primary_key=True),
        sa.Column("step", sa.BigInteger, primary_key=True),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("appended", sa.Boolean, nullable=False),
        sqlite_with_rowid=False,
    )
