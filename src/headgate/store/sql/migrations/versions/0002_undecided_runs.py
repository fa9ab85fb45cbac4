"""Which runs a gate still has to decide about, and which files it moves."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("datasets", sa.Column("settled", sa.Integer, nullable=False, server_default="0"))
    op.add_column("runs", sa.Column("source", sa.Text, nullable=False, server_default=""))
    op.add_column("runs", sa.Column("awaits_decision", sa.Integer, nullable=False, server_default="0"))
    op.add_column("rulings", sa.Column("source", sa.Text, nullable=False, server_default=""))
