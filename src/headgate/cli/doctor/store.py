"""Checks that the store can be reached, read and written, without creating or changing anything in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from headgate.cli.doctor.machine import Finding, check_disk_space, check_folder, check_packages

if TYPE_CHECKING:
    from headgate.values.errors import HeadgateError

_SQL_PACKAGES = ("sqlalchemy", "alembic")


def check_store(url: str, secret: str | None = None, what: str = "store") -> Iterator[Finding]:
    """Check the store at an address. The address is never shown: it may hold a password."""
    scheme = url.partition(":")[0].partition("+")[0]
    match scheme:
        case "memory":
            yield Finding(
                "warning", what, "memory: forgets everything when a command ends", "Write store: file:history."
            )
        case "file":
            yield from _check_files(what, Path(unquote(urlsplit(url).path)), secret)
        case "s3" | "gs" | "az":
            yield from _check_if_installed(
                check_packages(what, ["obstore"], "objects"), lambda: _check_objects(what, url, secret)
            )
        case "sqlite":
            yield from _check_if_installed(check_packages(what, _SQL_PACKAGES, "sql"), lambda: _check_sqlite(what, url))
        case "postgresql":
            needed = check_packages(what, [*_SQL_PACKAGES, "psycopg"], "postgresql")
            yield from _check_if_installed(needed, lambda: _check_sql(what, url))
        case "iceberg" | "delta":
            yield Finding("ok", what, f"a table of {scheme}, which is opened with Spark and not looked at here")
        case _:
            hint = "Write store: file:history, sqlite:///history.db or postgresql+psycopg://user@host/db."
            yield Finding("problem", what, f"{scheme}: is not a kind of store", hint, configured=True)


def _report_error(what: str, error: HeadgateError) -> Finding:
    from headgate.values.errors import NewerFormat

    hint = error.hint or ("Upgrade headgate." if isinstance(error, NewerFormat) else "")
    return Finding("problem", what, str(error).removesuffix(hint).strip(), hint)


def _check_if_installed(packages: Finding, check: Any) -> Iterator[Finding]:
    if packages.level == "ok":
        yield from check()
    else:
        yield packages


def _check_files(what: str, folder: Path, secret: str | None) -> Iterator[Finding]:
    from headgate.store.files import places

    written = check_folder(what, folder)
    yield written
    if written.level == "ok":
        yield check_disk_space("disk", folder)
    if (folder / places.STORE).is_file():
        yield _check_history(what, f"file://{quote(folder.as_posix())}", secret)


def _check_history(what: str, url: str, secret: str | None) -> Finding:
    """Check an existing history: its format, and how much it holds."""
    from headgate.store.open import open_store
    from headgate.values.errors import HeadgateError

    try:
        store = open_store(url, secret=secret)
    except HeadgateError as error:
        return _report_error(what, error)
    try:
        names = store.datasets()
        commits = sum(map(store.head, names))
    except HeadgateError as error:
        return _report_error(what, error)
    finally:
        store.close()
    content = f"{len(names)} dataset{'s' * (len(names) != 1)}, {commits:,} commit{'s' * (commits != 1)}"
    return Finding("ok", what, f"{content}; its format is one that this version reads")


def _check_objects(what: str, url: str, secret: str | None) -> Iterator[Finding]:
    """Check a bucket by writing and deleting an object: an object store has no other test of write access."""
    from secrets import token_hex

    from headgate.store.files import places
    from headgate.store.files.objects import Objects
    from headgate.values.errors import HeadgateError

    try:
        blobs = Objects.at(url)
        blobs.patience = 5.0
        try:
            has_history = blobs.read(places.STORE) is not None
            trial = f"doctor-{token_hex(8)}"
            blobs.put(trial, b"")
            _delete_object(blobs, trial)
        finally:
            blobs.close()
    except HeadgateError as error:
        yield _report_error(what, error)
        return
    yield Finding("ok", what, "the bucket can be read and written")
    if has_history:
        yield _check_history(what, url, secret)


def _delete_object(blobs: Any, path: str) -> None:
    import obstore

    obstore.delete(blobs._store, path)


def _check_sqlite(what: str, url: str) -> Iterator[Finding]:
    from headgate.store.sql.connection import parse_url
    from headgate.values.errors import MisuseError

    try:
        file = Path(str(parse_url(url).database)).absolute()
    except MisuseError as error:
        yield Finding("problem", what, str(error), configured=True)
        return
    written = check_folder(what, file.parent)
    yield written
    if written.level == "ok":
        yield check_disk_space("disk", file.parent)
        if file.exists():
            yield from _check_sql(what, url)


def _check_sql(what: str, url: str) -> Iterator[Finding]:
    """Check a database with statements that change nothing, in a transaction that is rolled back."""
    from headgate.store.sql.connection import engine_for, parse_url, secrets_in
    from headgate.values.errors import HeadgateError

    try:
        address = parse_url(url)
        engine = engine_for(address)
    except HeadgateError as error:
        yield _report_error(what, error)._replace(configured=True)
        return
    from sqlalchemy.exc import SQLAlchemyError

    try:
        with engine.connect() as connection:
            yield from _check_database(what, connection)
            connection.rollback()
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or type(error).__name__).strip().splitlines()[0]
        for secret in secrets_in(address):
            reason = reason.replace(secret, "***")
        yield Finding(
            "problem", what, f"it cannot be used: {reason[:200]}", "Is the server up, and is the login right?"
        )
    finally:
        engine.dispose()


def _check_database(what: str, connection: Any) -> Iterator[Finding]:
    from sqlalchemy import inspect, text

    from headgate.store.sql.upgrade import REVISIONS

    if not inspect(connection).has_table("headgate_version"):
        yield _check_may_create(what, connection)
        return
    revision = connection.execute(text("SELECT version_num FROM headgate_version")).scalar()
    if revision not in REVISIONS:
        message = f"its schema has revision {revision}; this version knows up to {REVISIONS[-1]}"
        yield Finding("problem", what, message, "Upgrade headgate.")
        return
    count = connection.execute(text("SELECT count(*) FROM datasets")).scalar()
    behind = "" if revision == REVISIONS[-1] else f"; the next run upgrades it to {REVISIONS[-1]}"
    yield Finding("ok", what, f"{count} dataset{'s' * (count != 1)}; its schema has revision {revision}{behind}")
    yield _check_may_write(what, connection)


def _check_may_create(what: str, connection: Any) -> Finding:
    from sqlalchemy import text

    if connection.dialect.name == "postgresql":
        may = connection.execute(text("SELECT has_schema_privilege(current_schema(), 'CREATE')")).scalar()
        if not may:
            return Finding(
                "problem", what, "there is no history yet, and this user may not make its tables", "GRANT CREATE."
            )
    return Finding("ok", what, "there is no history yet; the first run makes it")


def _check_may_write(what: str, connection: Any) -> Finding:
    from sqlalchemy import text

    from headgate.store.sql.connection import begin_write
    from headgate.store.sql.tables import datasets

    connection.rollback()  # the checks before have begun a transaction for reading
    if connection.dialect.name == "postgresql":
        names = [str(table.name) for table in datasets.metadata.sorted_tables]
        query = text(
            "SELECT bool_and(has_table_privilege(format('%I', name), 'INSERT'))"
            " FROM unnest(CAST(:names AS text[])) AS name"
        )
        if not connection.execute(query, {"names": names}).scalar():
            return Finding("problem", what, "this user may not write to it", "GRANT INSERT on its tables.")
    else:
        begin_write(connection)  # SQLite takes its write lock here, and raises if it may not
        connection.rollback()
    return Finding("ok", what, "it can be written to")
