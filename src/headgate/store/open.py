"""One call for every kind of store: `open_store`."""

from __future__ import annotations

from typing import Literal

from headgate.store.port import HistoryStore
from headgate.values.errors import MisuseError, refuse_surrogates


def open_store(
    url: str, *, values: Literal["hidden", "plain"] = "hidden", secret: str | bytes | None = None
) -> HistoryStore:
    """Open a history, creating it if it does not exist.

    `memory:` keeps it in this process; `sqlite:///dq.db` and `postgresql+psycopg://user@host/db` in SQL;
    `file:///dq` in files of a folder; `s3://bucket/dq`, `gs://` and `az://` on an object store.

    Text values of the data (the labels of frequent values) are stored as hashes under a secret, which show only whether
    two values are equal; `values="plain"` stores them as they are. Without `secret` the store creates one and keeps it
    beside the data; pass your own to keep it elsewhere.

    >>> open_store("memory:").datasets()
    ()
    """
    if values not in ("hidden", "plain"):
        raise MisuseError(f"values={values!r} is not a choice.", hint='Write values="hidden" or values="plain".')
    hide = values == "hidden"
    given = refuse_surrogates(secret).encode() if isinstance(secret, str) else secret
    scheme = refuse_surrogates(url).partition(":")[0]
    match scheme:
        case "memory":
            from headgate.store.memory import MemoryStore

            return MemoryStore(hide=hide, secret=given)
        case "file" | "s3" | "gs" | "az":
            from headgate.store.files import FileStore

            return FileStore.open(url, hide=hide, secret=given)
        case _ if scheme.partition("+")[0] in ("sqlite", "postgresql"):
            from headgate.store.sql import SqlStore

            return SqlStore.open(url, hide=hide, secret=given)
    if scheme in ("iceberg", "delta"):
        raise MisuseError(
            "a store in a table needs a Spark session.",
            hint=f'Write hg.open_table_store("lake.dq.history", "{scheme}", spark=spark).',
        )
    raise MisuseError(
        f"{scheme}: is not a kind of store.",
        hint="Use memory:, file:///folder, s3://bucket/folder, sqlite:///file.db or postgresql+psycopg://user@host/db.",
    )
