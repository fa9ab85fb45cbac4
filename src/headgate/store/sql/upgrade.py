"""The schema of a history: made when there is none, brought up to date when it is old, refused when it is newer."""

from __future__ import annotations

from pathlib import Path
from secrets import token_bytes
from threading import Lock

from sqlalchemy import Connection, inspect, text

from headgate.store.sql.connection import begin_write
from headgate.store.sql.tables import store_info
from headgate.values.errors import MisuseError, NewerFormat

FORMAT = 1
REVISIONS = ("0001",)
"""Every revision of the schema that this version knows, the newest last."""

_LOCK = 0x68656164  # any number, as long as every process takes the same
_one_at_a_time = Lock()  # Alembic keeps the migration it runs in a global


def ensure_schema(connection: Connection, given: bytes | None) -> None:
    """See that the schema is the one this version works with. Cheap when it is."""
    if _read_revision(connection) == REVISIONS[-1]:
        return
    connection.rollback()
    with _one_at_a_time:
        begin_write(connection)
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        if _read_revision(connection) != REVISIONS[-1]:
            _run_migrations(connection)
            if connection.execute(store_info.select()).first() is None:
                secret = token_bytes(32) if given is None else None
                connection.execute(store_info.insert().values(format=FORMAT, secret=secret))
        connection.commit()


def secret_of(connection: Connection, hide: bool, given: bytes | None) -> bytes | None:
    """Under what values are hidden: what the caller gave, or what the store made for itself; None if they are not."""
    info = connection.execute(store_info.select()).one()
    if info.format > FORMAT:
        raise NewerFormat(
            f"this store has format {info.format}; this version reads up to {FORMAT}.", hint="Upgrade headgate."
        )
    if not hide or given is not None:
        return given if hide else None
    if info.secret is None:
        raise MisuseError(
            "this store was made with a secret that is kept elsewhere.", hint="Give it: open_store(url, secret=...)."
        )
    return bytes(info.secret)


def _read_revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("headgate_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM headgate_version")).scalar()
    if found is not None and found not in REVISIONS:
        raise NewerFormat(
            f"the schema of this store has revision {found}; this version knows up to {REVISIONS[-1]}.",
            hint="Upgrade headgate.",
        )
    return found


def _run_migrations(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
