"""The schema of a history: created if there is none, upgraded if it is old, refused if it is newer."""

from __future__ import annotations

from pathlib import Path
from secrets import token_bytes
from threading import Lock

from sqlalchemy import Connection, inspect, text

from headgate.store.sql.connection import begin_write
from headgate.store.sql.tables import store_info
from headgate.values.errors import MisuseError, NewerFormat, StoreUnavailable

FORMAT = 1
REVISIONS = ("0001", "0002", "0003")
"""Every revision of the schema that this version knows, the newest last."""

_LOCK = 0x68656164  # the key of an advisory lock; any number that all processes share
_migration_lock = Lock()  # Alembic keeps the running migration in a global


def ensure_schema(connection: Connection, given: bytes | None) -> None:
    """Create or upgrade the schema unless it is current. Cheap if it is."""
    if _read_revision(connection) == REVISIONS[-1]:
        return
    connection.rollback()
    with _migration_lock:
        begin_write(connection)
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        if _read_revision(connection) != REVISIONS[-1]:
            _run_migrations(connection)
            if connection.execute(store_info.select()).first() is None:
                secret = token_bytes(32) if given is None else None
                connection.execute(store_info.insert().values(format=FORMAT, secret=secret))
        connection.commit()


def require_schema(connection: Connection) -> None:
    """Refuse a database without the current schema, and leave it as it is."""
    if _read_revision(connection) != REVISIONS[-1]:
        raise StoreUnavailable(
            "the database that is there now holds no history of this version.",
            hint="Restore the right one, or open the store anew.",
        )


def secret_of(connection: Connection, hide: bool, given: bytes | None) -> bytes | None:
    """The secret under which values are hashed: the given one, or the store's own; None if values are not hidden."""
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
    revision = connection.execute(text("SELECT version_num FROM headgate_version")).scalar()
    if revision is not None and revision not in REVISIONS:
        raise NewerFormat(
            f"the schema of this store has revision {revision}; this version knows up to {REVISIONS[-1]}.",
            hint="Upgrade headgate.",
        )
    return revision


def _run_migrations(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
