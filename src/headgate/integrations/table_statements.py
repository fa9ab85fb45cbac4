"""Statements about tables: names and texts in SQL, the errors of Spark as ours, commits again after a conflict.

Tested by `tests/integrations/tables/`.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headgate.metrics.base.sql import add_backticks
from headgate.values.errors import HeadgateError, PublishError

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

CONFLICTS = {
    "iceberg": ("CommitFailedException", "Found conflicting files", "Found new conflicting"),
    "delta": ("DELTA_METADATA_CHANGED", "DELTA_CONCURRENT", "DELTA_PROTOCOL_CHANGED"),
}
"""Words in the error of a commit that another writer was faster than, by format."""
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
    for wait in (*_WAITS, None):
        try:
            run_statement(session, statement, table)
            return
        except PublishError as error:
            if wait is None or not any(word in str(error) for word in conflicts):
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
        raise PublishError(f"{table}: {_shorten(error)}") from error


def _shorten(error: Exception) -> str:
    """The line of an error that says what is wrong: one with an error class of Spark, or the first of Java."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    coded = (line for line in lines if _CODE.search(line))
    of_java = (line for line in lines if line.startswith(("org.", "java.", "io.", ":")) and ": " in line)
    told = next(iter((*coded, *of_java, *lines)), "")
    return f"{type(error).__name__}: {told.lstrip(': ')[:300]}"
