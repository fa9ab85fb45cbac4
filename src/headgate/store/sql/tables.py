"""The tables of a history, as the newest migration leaves them."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import TEXT

metadata = MetaData()

# Sorted by code point, not by the locale of the server. SQLite always compares text so.
_ORDERED = Text().with_variant(TEXT(collation="C"), "postgresql")

store_info = Table(
    "store_info",
    metadata,
    Column("format", Integer, primary_key=True, autoincrement=False),
    Column("secret", LargeBinary),
)

datasets = Table(
    "datasets",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", LargeBinary, nullable=False),
    Column("name", _ORDERED, nullable=False),
    Column("head", Integer, nullable=False),
    Column("settled", Integer, nullable=False, server_default="0"),  # no run up to this commit awaits a decision
    UniqueConstraint("digest", name="datasets_by_digest"),
)

runs = Table(
    "runs",
    metadata,
    Column("dataset_id", Integer, ForeignKey("datasets.id"), primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("partition", _ORDERED, nullable=False),
    Column("number", Integer, nullable=False),
    Column("place", _ORDERED, nullable=False),
    Column("standing", _ORDERED, nullable=False),
    Column("run_key", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("suite", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("basis", Integer, nullable=False),
    Column("at", Double, nullable=False),
    Column("attempt", Text, nullable=False),
    Column("details", LargeBinary, nullable=False),
    Column("source", Text, nullable=False, server_default=""),
    Column("awaits_decision", Integer, nullable=False, server_default="0"),  # 1 if a gate has to decide about it
    UniqueConstraint("dataset_id", "run_key", name="runs_by_key"),
    Index("runs_in_order", "dataset_id", "standing", "sequence"),
)

rulings = Table(
    "rulings",
    metadata,
    Column("dataset_id", Integer, primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("run", Integer, nullable=False),
    Column("decision", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("source", Text, nullable=False, server_default=""),
    ForeignKeyConstraint(["dataset_id", "run"], ["runs.dataset_id", "runs.sequence"]),
    Index("rulings_by_run", "dataset_id", "run", "sequence"),
)

mutes = Table(
    "mutes",
    metadata,
    Column("dataset_id", Integer, ForeignKey("datasets.id"), primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("label", Text, nullable=False),  # of the column, in which * stands for any characters
    Column("until", Double),  # nothing where a mute was ended
    Column("who", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("at", Double, nullable=False),
)


def _make_dictionary(name: str) -> Table:
    return Table(
        name,
        metadata,
        Column("dataset_id", Integer, ForeignKey("datasets.id"), primary_key=True),
        Column("position", Integer, primary_key=True),
        Column("key", Text, nullable=False),
    )


series = _make_dictionary("series")
state_keys = _make_dictionary("state_keys")

states = Table(
    "states",
    metadata,
    Column("dataset_id", Integer, primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    ForeignKeyConstraint(["dataset_id", "sequence"], ["runs.dataset_id", "runs.sequence"]),
)
