"""A history in an Iceberg or Delta table, for people who have neither a database nor an object store of their own.

Tested by `tests/integrations/tables/test_table_store.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import local
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from headgate.engine.spark_sources import active_session
from headgate.integrations.table_statements import (
    CONFLICTS,
    as_publish_error,
    as_view,
    check_table_name,
    commit_again,
    create_table,
    quote,
    run_statement,
)
from headgate.store.fault_points import fault_point
from headgate.store.files.blobs import ByteSpan
from headgate.store.files.places import object_name
from headgate.store.files.store import FileStore
from headgate.values.errors import CorruptBytes, MisuseError, PublishError, StoreUnavailable, refuse_surrogates

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_AT_ONCE = 200  # objects that one query reads
_ALL = 2**31 - 1  # bytes, more than a value of a table can have
_NO_FOLDER = "."
_COLUMNS = {"folder": "STRING", "path": "STRING", "data": "BINARY"}
_ISOLATION = "write.merge.isolation-level"


def open_table_store(
    table: str,
    form: Literal["iceberg", "delta"],
    *,
    spark: SparkSession | Callable[[], SparkSession] | None = None,
    values: Literal["hidden", "plain"] = "hidden",
    secret: str | bytes | None = None,
) -> FileStore:
    """Open a history in a table, creating it if it does not exist.

    Every commit of the history is a commit of the table, and every look at it a query: seconds, where other stores need
    milliseconds. Writers on several machines are safe, as each commit is one that the format itself decides about.

    Args:
        table: The name of the table, `lake.dq.history`, or for Delta its path.
        form: The format of the table.
        spark: The session, or a function that gives it. Default: the active one.
        values: Whether text values of the data are stored as hashes, as `open_store` says.
        secret: The secret of the hashes. Without one, the store makes one and keeps it in the table.
    """
    if values not in ("hidden", "plain"):
        raise MisuseError(f"values={values!r} is not a choice.", hint='Write values="hidden" or values="plain".')
    given = refuse_surrogates(secret).encode() if isinstance(secret, str) else secret
    return FileStore(TableObjects(table, form, spark), hide=values == "hidden", secret=given)


class TableObjects:
    """Objects that are rows of a table. A row is written if no row has its path: `MERGE` is refused by the format if
    another writer has written the path since the table was looked at, and is tried again.

    Args:
        table: The name of the table, or for Delta its path.
        form: The format of the table.
        spark: The session, or a function that gives it.
    """

    kind: ClassVar = "tables"

    def __init__(
        self,
        table: str,
        form: Literal["iceberg", "delta"],
        spark: SparkSession | Callable[[], SparkSession] | None = None,
    ) -> None:
        self.table, self.form, self.patience = table, form, 60.0
        self._name = check_table_name(table, form)
        self._given = active_session() if spark is None else spark
        self._fetched = local()
        self._create()

    def _create(self) -> None:
        """Make the table. An Iceberg table whose merges are not held against all others is refused."""
        level = f"'{_ISOLATION}' = 'serializable'"
        columns = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
        statement = (
            f"CREATE TABLE IF NOT EXISTS {self._name} ({columns}) "
            f"USING {self.form} PARTITIONED BY (folder){f' TBLPROPERTIES ({level})' if self.form == 'iceberg' else ''}"
        )
        with _as_unavailable():
            create_table(self._spark, statement, self.table, self.form)
        levels = {row["value"] for row in self._query(f"SHOW TBLPROPERTIES {self._name}") if row["key"] == _ISOLATION}
        if levels - {"serializable"}:
            raise MisuseError(
                f"two writers could write the same commit into {self.table}.",
                hint=f"Run ALTER TABLE {self.table} SET TBLPROPERTIES ({level}).",
            )

    def put(self, path: str, data: bytes) -> bool:
        if self.read(path, 0, 1) is not None:
            return False
        fault_point("tables.put")
        rows = [(_find_folder(path), path, bytearray(data))]
        with _as_unavailable(), as_publish_error(self.table), as_view(self._spark, rows, _COLUMNS) as view:
            # the clause that never applies makes it more than an append, which the format would not hold against others
            statement = (
                f"MERGE INTO {self._name} AS kept USING {view} AS new "
                f"ON {_is_at(path)} AND kept.path = new.path "
                "WHEN MATCHED AND length(kept.path) < 0 THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
            )
            commit_again(
                lambda: run_statement(self._spark, statement, self.table),
                CONFLICTS[self.form],
                is_done=lambda: self.read(path, 0, 1) is not None,
            )
        fault_point("tables.put_done")
        return self.read(path) == data

    def read(self, path: str, start: int = 0, size: int | None = None) -> bytes | None:
        fetched: dict[ByteSpan, bytes | None] = getattr(self._fetched, "spans", {})
        if (path, start, size) in fetched:
            return fetched[path, start, size]
        return self._read_spans([(path, start, size)])[path, start, size]

    def read_parts(self, path: str, parts: Sequence[tuple[int, int]]) -> list[bytes]:
        whole = self.read(path) if parts else b""
        if whole is None:
            raise StoreUnavailable(f"{path} is not in {self.table} any more.")
        return [whole[start : start + size] for start, size in parts]

    def names(self, folder: str, after: int) -> list[str]:
        last = quote(f"{folder}/{object_name(after)}")
        within = f"folder = {quote(_find_folder(f'{folder}/'))} AND startswith(path, {quote(f'{folder}/')})"
        rows = self._query(f"SELECT path FROM {self._name} WHERE {within} AND path > {last}")
        return [row["path"].rpartition("/")[2] for row in rows]

    def folders(self) -> list[str]:
        rows = self._query(f"SELECT DISTINCT folder FROM {self._name}")
        return [row["folder"] for row in rows if row["folder"] != _NO_FOLDER]

    def settle(self, path: str) -> None:
        pass

    def each(
        self, call: Callable[[_Item], _Result], items: Iterable[_Item], reads: Iterable[ByteSpan] = ()
    ) -> Iterator[_Result]:
        fetched = self._read_spans(reads)
        for item in items:
            outer = getattr(self._fetched, "spans", {})
            self._fetched.spans = fetched
            try:
                result = call(item)
            finally:
                self._fetched.spans = outer
            yield result

    def close(self) -> None:
        pass

    def _read_spans(self, spans: Iterable[ByteSpan]) -> dict[ByteSpan, bytes | None]:
        """One span of each object, by few queries; None where there is no object."""
        by_path = {span[0]: span for span in spans}
        found: dict[ByteSpan, bytes | None] = dict.fromkeys(by_path.values())
        paths = list(by_path)
        for first in range(0, len(paths), _AT_ONCE):
            chosen = [by_path[path] for path in paths[first : first + _AT_ONCE]]
            starts = " ".join(f"WHEN {quote(path)} THEN {start + 1}" for path, start, _ in chosen)
            sizes = " ".join(f"WHEN {quote(path)} THEN {_ALL if size is None else size}" for path, _, size in chosen)
            within = " OR ".join(_is_at(path) for path, _, _ in chosen)
            fault_point("tables.get")
            rows = self._query(
                f"SELECT path, substring(data, CASE path {starts} END, CASE path {sizes} END) AS data "
                f"FROM {self._name} AS kept WHERE {within}"
            )
            if len({row["path"] for row in rows}) < len(rows):
                raise CorruptBytes(f"{self.table} has an object twice, among {', '.join(paths[first:][:3])}.")
            found.update({by_path[row["path"]]: bytes(row["data"]) for row in rows})
        return found

    @property
    def _spark(self) -> SparkSession:
        session = self._given() if callable(self._given) else self._given
        if session is None:
            raise MisuseError("there is no active Spark session.", hint="Pass one: spark=spark.")
        return session

    def _query(self, statement: str) -> list[Row]:
        """Ask the table as it is now, not as this session last saw it."""
        with _as_unavailable():
            run_statement(self._spark, f"REFRESH TABLE {self._name}", self.table)
            return run_statement(self._spark, statement, self.table)


def _find_folder(path: str) -> str:
    """The first part of a path, which the table is partitioned by.

    >>> _find_folder("orders-1f/log/1.hg"), _find_folder("store.hg")
    ('orders-1f', '.')
    """
    folder, found, _ = path.partition("/")
    return folder if found else _NO_FOLDER


def _is_at(path: str) -> str:
    return f"(kept.folder = {quote(_find_folder(path))} AND kept.path = {quote(path)})"


@contextmanager
def _as_unavailable() -> Iterator[None]:
    """The errors of Spark and of the format as those of a store."""
    try:
        yield
    except PublishError as error:
        raise StoreUnavailable(str(error)) from error
