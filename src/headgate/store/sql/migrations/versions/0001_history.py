"""Datasets, runs, rulings, series of numbers, states, and the view for people."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0001"
down_revision = None

WIDTH = 126  # numbers in a row of metric_values: with it, seven rows fill a page of 8 KiB in both databases

_ORDERED = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    _create_history()
    _create_dictionaries()
    _create_values()
    _create_states()
    _create_view()


def _create_history() -> None:
    op.create_table(
        "store_info",
        sa.Column("format", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("secret", sa.LargeBinary),
    )
    op.create_table(
        "datasets",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("name", _ORDERED, nullable=False),
        sa.Column("head", sa.Integer, nullable=False),
        sa.UniqueConstraint("digest", name="datasets_by_digest"),
    )
    op.create_table(
        "runs",
        sa.Column("dataset_id", sa.Integer, sa.ForeignKey("datasets.id"), primary_key=True),
        sa.Column("sequence", sa.Integer, primary_key=True),
        sa.Column("partition", _ORDERED, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("place", _ORDERED, nullable=False),
        sa.Column("standing", _ORDERED, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("run_key", "fingerprint", "suite", "status")),
        sa.Column("basis", sa.Integer, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("attempt", sa.Text, nullable=False),
        sa.Column("details", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("dataset_id", "run_key", name="runs_by_key"),
    )
    op.create_index("runs_in_order", "runs", ["dataset_id", "standing", "sequence"])
    op.create_table(
        "rulings",
        sa.Column("dataset_id", sa.Integer, primary_key=True),
        sa.Column("sequence", sa.Integer, primary_key=True),
        sa.Column("run", sa.Integer, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("decision", "who", "note")),
        sa.Column("at", sa.Double, nullable=False),
        sa.ForeignKeyConstraint(["dataset_id", "run"], ["runs.dataset_id", "runs.sequence"]),
    )
    op.create_index("rulings_by_run", "rulings", ["dataset_id", "run", "sequence"])


def _create_dictionaries() -> None:
    for name in ("series", "state_keys"):
        op.create_table(
            name,
            sa.Column("dataset_id", sa.Integer, sa.ForeignKey("datasets.id"), primary_key=True),
            sa.Column("position", sa.Integer, primary_key=True),
            sa.Column("key", sa.Text, nullable=False),
        )


def _create_values() -> None:
    """In SQLite the numbers have no declared type: a REAL column would turn -0.0 into 0."""
    kind = " double precision" if _is_postgresql() else ""
    numbers = ", ".join(f"v{slot}{kind}" for slot in range(WIDTH))
    op.execute(
        "CREATE TABLE metric_values (dataset_id integer NOT NULL, sequence integer NOT NULL, block integer NOT NULL, "
        f"{numbers}, PRIMARY KEY (dataset_id, sequence, block), "
        "FOREIGN KEY (dataset_id, sequence) REFERENCES runs (dataset_id, sequence))"
    )


def _create_states() -> None:
    op.create_table(
        "states",
        sa.Column("dataset_id", sa.Integer, primary_key=True),
        sa.Column("sequence", sa.Integer, primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["dataset_id", "sequence"], ["runs.dataset_id", "runs.sequence"]),
    )
    if _is_postgresql():  # the envelopes are compressed already
        op.execute("ALTER TABLE states ALTER COLUMN data SET STORAGE EXTERNAL")


def _create_view() -> None:
    cases = " ".join(f"WHEN {slot} THEN v.v{slot}" for slot in range(WIDTH))
    at = "to_timestamp(r.at)" if _is_postgresql() else "strftime('%Y-%m-%dT%H:%M:%fZ', r.at, 'unixepoch')"
    op.execute(f"""
        CREATE VIEW metric_history AS SELECT * FROM (
            SELECT d.name AS dataset, r.partition AS partition, r.sequence AS sequence, r.number AS revision,
                {at} AS at, s.key AS metric, CAST(CASE s.position % {WIDTH} {cases} END AS double precision) AS value,
                (SELECT g.decision FROM rulings g WHERE g.dataset_id = r.dataset_id AND g.run = r.sequence
                    ORDER BY g.sequence DESC LIMIT 1) AS decision,
                NOT EXISTS (SELECT 1 FROM runs n WHERE n.dataset_id = r.dataset_id AND n.standing = r.standing
                    AND n.partition = r.partition AND n.sequence > r.sequence) AS is_latest
            FROM datasets d
            JOIN series s ON s.dataset_id = d.id
            JOIN runs r ON r.dataset_id = d.id
            JOIN metric_values v ON v.dataset_id = r.dataset_id AND v.sequence = r.sequence
                AND v.block = s.position / {WIDTH}
        ) every WHERE value IS NOT NULL
    """)


def _is_postgresql() -> bool:
    return op.get_bind().dialect.name == "postgresql"
