"""Statements about tables: names and texts in SQL, the errors of Spark as ours, commits again after a conflict.

Tested by `tests/integrations/tables/`.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from headgate.engine.spark_workers import is_connect
from headgate.metrics.base.sql import add_backticks
from headgate.values.errors import HeadgateError, MisuseError, PublishError

if TYPE_CHECKING:
    from pyspark.sql import Column, Row, SparkSession
    from pyspark.sql.types import DataType

CONFLICTS = {
    "iceberg": ("CommitFailedException", "Found conflicting files", "Found new conflicting"),
    "delta": ("DELTA_METADATA_CHANGED", "DELTA_CONCURRENT", "DELTA_PROTOCOL_CHANGED"),
}
"""Words in the error of a commit that another writer was faster than, by format."""
_MADE_MEANWHILE = ("AlreadyExistsException", "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION")
_HINTS = {
    "TABLE_OR_VIEW_NOT_FOUND": "Is the name right, with its catalogue and schema?",
    "SCHEMA_NOT_FOUND": "Create the schema first: CREATE SCHEMA {schema}.",
    "REQUIRES_SINGLE_PART_NAMESPACE": "Does the session know the catalogue? Set spark.sql.catalog.<name>.",
    "DATA_SOURCE_NOT_FOUND": "Start Spark with the jars of the format: docs/guides/tables.md.",
}
"""What to do about errors that come from how Spark was set up."""
_CODE = re.compile(r"\[[A-Z][A-Z_.]+\]")
"""The error class at the start of a message of Spark or Delta."""
_WAITS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Seconds to wait, and up to twice as long, before a commit is tried again that another writer was faster than."""


def quote(text: str) -> str:
    r"""A text as a literal of Spark SQL, in which no variable is replaced.

    >>> print(quote("it's"), quote("${x}"))
    'it\'s' '\u0024{x}'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024")
    return f"'{escaped}'"


def quote_table(table: str) -> str:
    """The name or the path of a table in a statement. A name with quotes stays as it is.

    >>> quote_table("lake.shop.orders"), quote_table("s3a://lake/orders"), quote_table("`my-lake`.orders")
    ('`lake`.`shop`.`orders`', 'delta.`s3a://lake/orders`', '`my-lake`.orders')
    """
    if "`" in table:
        return table
    return f"delta.`{table}`" if "/" in table else ".".join(map(add_backticks, table.split(".")))


def check_table_name(table: str, form: str) -> str:
    """The name or the path of a table that Headgate makes, as it is written in a statement."""
    if form not in CONFLICTS or not table or "`" in table or (form == "iceberg" and "/" in table):
        raise MisuseError(
            f"{table!r} cannot be the name of a table of {form}.",
            hint="Write lake.dq.name and iceberg, or dq.name or a path and delta.",
        )
    return quote_table(table)


def write_type(kind: DataType) -> str:
    """A type of Spark in a statement that makes a table. The names of fields may have any characters."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(kind, StructType):
        return f"STRUCT<{', '.join(f'{add_backticks(each.name)}: {write_type(each.dataType)}' for each in kind)}>"
    if isinstance(kind, ArrayType):
        return f"ARRAY<{write_type(kind.elementType)}>"
    if isinstance(kind, MapType):
        return f"MAP<{write_type(kind.keyType)}, {write_type(kind.valueType)}>"
    return kind.simpleString()


def as_column(session: SparkSession, text: str) -> Column:
    """An expression as a column of the kind of session."""
    functions = import_module("pyspark.sql.connect.functions" if is_connect(session) else "pyspark.sql.functions")
    column: Column = functions.expr(text)
    return column


@contextmanager
def as_view(session: SparkSession, rows: Sequence[tuple[Any, ...]], columns: Mapping[str, str]) -> Iterator[str]:
    """Rows as a view of the session, while a statement needs it.

    Args:
        session: The session.
        rows: Values in the order of the columns.
        columns: The names of the columns, with their types in SQL.
    """
    view, schema = f"headgate_{token_hex(8)}", ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
    session.createDataFrame(list(rows), schema).createOrReplaceTempView(view)
    try:
        yield view
    finally:
        session.catalog.dropTempView(view)


def run_statement(session: SparkSession, statement: str, table: str) -> list[Row]:
    """Run a statement. The errors of Spark are ours; `table` is what they tell of."""
    with as_publish_error(table):
        return session.sql(statement).collect()


def commit_statement(session: SparkSession, statement: str, table: str, conflicts: Sequence[str]) -> None:
    """Run a statement that may be run again, until no other writer is faster.

    Args:
        session: The session.
        statement: What is to be run.
        table: What errors tell of.
        conflicts: Words in the error of a commit that another writer was faster than.
    """
    commit_again(lambda: run_statement(session, statement, table), conflicts)


def create_table(session: SparkSession, statement: str, table: str, form: str) -> None:
    """Make a table if there is none, also if another process makes it at the same time.

    Args:
        session: The session.
        statement: CREATE TABLE IF NOT EXISTS.
        table: What errors tell of.
        form: The format of the table.
    """
    commit_statement(session, statement, table, (*CONFLICTS[form], *_MADE_MEANWHILE))


def commit_again(
    work: Callable[[], object], conflicts: Sequence[str], is_done: Callable[[], bool] = lambda: False
) -> None:
    """Do work that may be done again, until no other writer is faster.

    Args:
        work: A commit.
        conflicts: Words in the error of a commit that another writer was faster than.
        is_done: Whether there is nothing left to do, after another writer was faster.
    """
    for wait in (*_WAITS, None):
        try:
            work()
            return
        except PublishError as error:
            if not any(word in str(error) for word in conflicts):
                raise
            if is_done():
                return
            if wait is None:
                raise
            time.sleep(wait * (1.0 + random.random()))


@contextmanager
def as_publish_error(table: str) -> Iterator[None]:
    """The errors of Spark and of the format as ours."""
    try:
        yield
    except HeadgateError:
        raise
    except Exception as error:  # from Py4J, gRPC or Spark
        message = _shorten(error)
        hint = next((hint for word, hint in _HINTS.items() if word in message), "")
        raise PublishError(f"{table}: {message}", hint.replace("{schema}", table.rpartition(".")[0])) from error


def _shorten(error: Exception) -> str:
    """The line of an error that says what is wrong: one with an error class of Spark, or the first of Java."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    coded = (line for line in lines if _CODE.search(line))
    of_java = (line for line in lines if line.startswith(("org.", "java.", "io.", ":")) and ": " in line)
    told = next(iter((*coded, *of_java, *lines)), "")
    return f"{type(error).__name__}: {told.lstrip(': ')[:300]}"
