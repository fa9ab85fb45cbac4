"""Opens the store that a configuration names, and tells what goes wrong without its address."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

from headgate.store.open import open_store
from headgate.store.port import HistoryStore
from headgate.values.errors import ConfigError, HeadgateError, StoreUnavailable
from headgate.values.hidden import Hidden

_KINDS = ("memory", "file", "s3", "gs", "az", "sqlite", "postgresql")
_WRITE = "Write file:history, sqlite:///history.db, postgresql+psycopg://user@host/db, s3://bucket/folder or memory:."
_RELATIVE_SQLITE = re.compile(r"(sqlite(?:\+pysqlite)?:///)(?![/:])(.+)", re.DOTALL)


def open_project_store(
    address: Hidden, secret: Hidden | None, values: Literal["hidden", "plain"], folder: Path
) -> HistoryStore:
    """The store; relative paths are relative to the folder of the configuration."""
    store, trouble = _try_to_open(address, secret, values, folder)
    if trouble is not None:
        raise trouble
    assert store is not None
    return store


def _try_to_open(
    address: Hidden, secret: Hidden | None, values: Literal["hidden", "plain"], folder: Path
) -> tuple[HistoryStore | None, HeadgateError | None]:
    """What went wrong comes back as a value: the frames below hold the address in plain."""
    try:
        text = anchor_address(address.reveal(), folder)
        key = None if secret is None else secret.reveal()
    except ConfigError as trouble:
        return None, ConfigError(_message_of(trouble), trouble.hint)
    if text.partition(":")[0].partition("+")[0] not in _KINDS or ":" not in text:
        return None, ConfigError("this is no address of a store.", hint=_WRITE)
    try:
        return open_store(text, values=values, secret=key), None
    except HeadgateError as trouble:
        kind = StoreUnavailable if isinstance(trouble, StoreUnavailable) else type(trouble)
        return None, _copy_error(kind, _remove_secrets(_message_of(trouble), text), _remove_secrets(trouble.hint, text))
    except Exception as trouble:  # of a driver; its words may hold the address
        return None, StoreUnavailable(f"the store could not be opened ({type(trouble).__name__}).")


def _copy_error(kind: type[HeadgateError], message: str, hint: str) -> HeadgateError:
    """The same error once more, without what led to it."""
    try:
        return kind(message, hint)
    except TypeError:
        return HeadgateError(message, hint)


def anchor_address(address: str, folder: Path) -> str:
    """An address whose file is relative to the folder of the configuration.

    >>> anchor_address("file:history", Path("/dq")), anchor_address("sqlite:///dq.db", Path("/dq"))
    ('file:///dq/history', 'sqlite:////dq/dq.db')
    """
    if address.startswith("file:") and not address.startswith("file:/"):
        return f"file://{quote((folder / unquote(address.removeprefix('file:'))).as_posix())}"
    if found := _RELATIVE_SQLITE.fullmatch(address):
        return f"{found[1]}{(folder / found[2]).as_posix()}"
    return address


def _message_of(trouble: HeadgateError) -> str:
    return str(trouble).removesuffix(trouble.hint).strip()


def _remove_secrets(words: str, address: str) -> str:
    """The words, with every part of the address that may be secret taken out."""
    for secret in sorted(_secrets_in(address), key=len, reverse=True):
        words = words.replace(secret, "***")
    return words


def _secrets_in(address: str) -> set[str]:
    found = {address}
    if "://" not in address and ":" not in address:
        return found
    try:
        parts = urlsplit(address)
        found |= {parts.password or "", parts.query, *(each.partition("=")[2] for each in parts.query.split("&"))}
    except ValueError:
        found |= set(re.findall(r"://[^/]*:([^@/]*)@", address))
    if "@" in address:
        found.add(address.partition("://")[2].rpartition("@")[0].partition(":")[2])
    return {part for each in found if each for part in (each, unquote(each))}
