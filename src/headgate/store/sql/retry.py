"""Errors of a database: which are transient, how long to retry, and messages without secrets."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator

from sqlalchemy import URL, Engine
from sqlalchemy.exc import DBAPIError

from headgate.store.sql.connection import redact_url, secrets_in
from headgate.values.errors import StoreUnavailable

# Codes of SQLite: busy, locked, and a race for the lock of the write-ahead log.
_BUSY = {5, 6, 15}
# Codes of PostgreSQL: no connection (08), shut down or starting (57P), too many connections, serialization failure,
# deadlock, lock not available, idle timeout, and a server that became read-only in a failover.
_TRANSIENT = re.compile("08...|57P0[0-9]|53300|40001|40P01|55P03|25006|25P03")
_FULL = {"53100", 13}
_REFUSED = re.compile("authentication failed|does not exist|no password supplied|no pg_hba.conf entry")


def driver_errors(engine: Engine) -> tuple[type[Exception], ...]:
    """The errors that a database raises, through SQLAlchemy or directly from the driver."""
    return DBAPIError, engine.dialect.loaded_dbapi.Error


def is_transient(error: Exception) -> bool:
    """Whether trying again on a new connection may help."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    cause, code = _find_cause(error)
    if isinstance(code, int):
        return code & 0xFF in _BUSY
    if code is not None:
        return _TRANSIENT.fullmatch(code) is not None
    names = {each.__name__ for each in type(cause).__mro__}
    lost = bool(names & {"OperationalError", "InterfaceError"}) and type(cause).__module__.startswith("psycopg")
    return lost and not _REFUSED.search(str(cause))


def as_unavailable(error: Exception, url: URL) -> StoreUnavailable:
    """The error as `StoreUnavailable`, with secrets masked."""
    cause, code = _find_cause(error)
    message = " ".join(str(cause).split())
    for secret in secrets_in(url):
        message = message.replace(secret, "***")
    hint = "Try again when it can be reached; a run that is committed twice is kept once."
    if code in _FULL:
        hint = "Make room on the disk and try again; what was committed before is unharmed."
    elif "unable to open" in message:
        hint = "Is there such a folder, and may it be written?"
    elif _REFUSED.search(message):
        hint = "Look at the user, the password and the database in the address."
    return StoreUnavailable(f"{redact_url(url)}: {message or type(cause).__name__}.", hint=hint)


def attempts_within(patience: float) -> Iterator[None]:
    """Yields once for each attempt until the time is up, after pauses that grow and have jitter, so that many clients
    do not retry together."""
    end = time.monotonic() + patience
    pause = 0.05
    yield
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, pause * random.uniform(0.5, 1.5)))
        pause = min(2 * pause, 5.0)
        yield


def _find_cause(error: Exception) -> tuple[BaseException, str | int | None]:
    """The driver's error and its code: five characters from PostgreSQL, a number from SQLite."""
    cause: BaseException = (error.orig or error) if isinstance(error, DBAPIError) else error
    return cause, getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorcode", None)
