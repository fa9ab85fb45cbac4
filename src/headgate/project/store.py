"""Opens the store of a configuration, with errors that do not show its address."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, unquote, urlsplit

from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from headgate.values.errors import ConfigError, HeadgateError, StoreUnavailable
from headgate.values.hidden import Hidden

_TABLES: tuple[Literal["iceberg", "delta"], ...] = ("iceberg", "delta")
_KINDS = ("memory", "file", "s3", "gs", "az", "sqlite", "postgresql", *_TABLES)
_ADDRESS_HINT = (
    "Write file:history, sqlite:///history.db, postgresql+psycopg://user@host/db, s3://bucket/folder, "
    "iceberg:lake.dq.history, delta:dq.history or memory:."
)
_RELATIVE_SQLITE = re.compile(r"(sqlite(?:\+pysqlite)?:///)(?![/:])(.+)", re.DOTALL)


def open_project_store(
    address: Hidden,
    secret: Hidden | None,
    values: Literal["hidden", "plain"],
    folder: Path,
    open_session: Callable[[], Any],
) -> HistoryStore:
    """Open a store.

    Args:
        address: Where it is.
        secret: The secret of its hashes.
        values: Whether text values are stored as hashes.
        folder: What relative paths in the address are relative to.
        open_session: Gives the Spark session, for a store in a table.
    """
    store, error = _try_to_open(address, secret, values, folder, open_session)
    if error is not None:
        raise error
    assert store is not None
    return store


def _try_to_open(
    address: Hidden,
    secret: Hidden | None,
    values: Literal["hidden", "plain"],
    folder: Path,
    open_session: Callable[[], Any],
) -> tuple[HistoryStore | None, HeadgateError | None]:
    """The store, or the error. It is returned, not raised: a traceback from here would show the address."""
    try:
        text = anchor_address(address.reveal(), folder)
        key = None if secret is None else secret.reveal()
    except ConfigError as error:
        return None, ConfigError(_message_of(error), error.hint)
    if text.partition(":")[0].partition("+")[0] not in _KINDS or ":" not in text:
        return None, ConfigError("this is no address of a store.", hint=_ADDRESS_HINT)
    try:
        for form in _TABLES:
            if text.startswith(f"{form}:"):
                from headgate.integrations.table_store import open_table_store

                table = text.removeprefix(f"{form}:")
                return open_table_store(table, form, spark=open_session, values=values, secret=key), None
        return open_store(text, values=values, secret=key), None
    except HeadgateError as error:
        kind = StoreUnavailable if isinstance(error, StoreUnavailable) else type(error)
        return None, _copy_error(kind, _remove_secrets(_message_of(error), text), _remove_secrets(error.hint, text))
    except Exception as error:  # of a driver; its message may hold the address
        return None, StoreUnavailable(f"the store could not be opened ({type(error).__name__}).")


def _copy_error(kind: type[HeadgateError], message: str, hint: str) -> HeadgateError:
    """A new error of this type, without the traceback and the cause of the first."""
    try:
        return kind(message, hint)
    except TypeError:
        return HeadgateError(message, hint)


def anchor_address(address: str, folder: Path) -> str:
    """The address with a relative path made absolute, below the folder of the configuration.

    >>> anchor_address("file:history", Path("/dq")), anchor_address("sqlite:///dq.db", Path("/dq"))
    ('file:///dq/history', 'sqlite:////dq/dq.db')
    """
    if address.startswith("file:") and not address.startswith("file:/"):
        return f"file://{quote((folder / unquote(address.removeprefix('file:'))).as_posix())}"
    if match := _RELATIVE_SQLITE.fullmatch(address):
        return f"{match[1]}{(folder / match[2]).as_posix()}"
    return address


def _message_of(error: HeadgateError) -> str:
    return str(error).removesuffix(error.hint).strip()


def _remove_secrets(text: str, address: str) -> str:
    """The text with every part of the address that may be secret replaced by ***."""
    for secret in sorted(_secrets_in(address), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def _secrets_in(address: str) -> set[str]:
    secrets = {address}
    if "://" not in address and ":" not in address:
        return secrets
    try:
        parts = urlsplit(address)
        secrets |= {parts.password or "", parts.query, *(each.partition("=")[2] for each in parts.query.split("&"))}
    except ValueError:
        secrets |= set(re.findall(r"://[^/]*:([^@/]*)@", address))
    if "@" in address:  # urlsplit ends the login at the first slash, which a password may contain
        secrets.add(address.partition("://")[2].rpartition("@")[0].partition(":")[2])
    return {form for each in secrets if each for form in (each, unquote(each))}
