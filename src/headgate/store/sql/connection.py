"""Connections to SQLite and PostgreSQL, with the settings on which the guarantees of the store depend."""

from __future__ import annotations

from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from headgate.values.errors import MisuseError

BUSY_TIMEOUT = 30.0  # seconds for which SQLite waits for another writer
PAGE = 8192  # bytes; the width of a row of numbers is chosen to fit it

_SECRETS = ("password", "sslpassword")


def parse_url(url: str) -> URL:
    """The parsed address of a database, with a supported driver."""
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        raise MisuseError(
            "the address of the store cannot be read.",
            hint="Write sqlite:///file.db or postgresql+psycopg://user@host/database; encode odd characters with %.",
        ) from None
    if address.drivername in ("postgresql", "postgresql+psycopg"):
        return address.set(drivername="postgresql+psycopg")
    if address.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise MisuseError(f"{address.drivername} is not supported.", hint="Use sqlite:/// or postgresql+psycopg://.")
    if address.database in (None, "", ":memory:"):
        raise MisuseError("SQLite needs a file here.", hint="sqlite:///dq.db, or memory: to keep nothing.")
    return address


def redact_url(url: URL) -> str:
    """The address without anything secret."""
    return url.set(query={}).render_as_string(hide_password=True)


def secrets_in(url: URL) -> tuple[str, ...]:
    secrets = [url.password, *(url.query.get(name) for name in _SECRETS)]
    return tuple(str(each) for each in secrets if each)


def engine_for(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT}, hide_parameters=True)
        event.listen(engine, "connect", _configure_sqlite)
        return engine
    try:
        engine = create_engine(
            url,
            connect_args=_postgresql_arguments(url),
            isolation_level="READ COMMITTED",
            hide_parameters=True,
        )
    except ModuleNotFoundError:
        raise MisuseError("PostgreSQL needs psycopg.", hint="pip install 'headgate[postgresql]'") from None
    event.listen(engine, "connect", _configure_postgresql)
    return engine


def begin_write(connection: Connection) -> None:
    """Begin a write transaction. SQLite takes its write lock now, so that the transaction cannot fail later for it."""
    connection.begin()
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _postgresql_arguments(url: URL) -> dict[str, Any]:
    """Arguments of the driver: timeouts that notice a dead server, and no prepared statements, which poolers break."""
    arguments = {
        "prepare_threshold": None,
        "connect_timeout": 10,
        "tcp_user_timeout": 30_000,
        "keepalives_idle": 30,
        "application_name": "headgate",
    }
    return {name: value for name, value in arguments.items() if name not in url.query}


def _configure_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # otherwise the driver begins transactions by itself
    for pragma in (f"page_size={PAGE}", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _configure_postgresql(connection: Any, _: object) -> None:
    """Turn off compilation, which takes longer than a query of many columns, and limit waiting for a frozen writer."""
    connection.execute("SET jit = off; SET lock_timeout = '30s'; SET idle_in_transaction_session_timeout = '5min'")
    connection.commit()
