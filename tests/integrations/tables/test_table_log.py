"""What tables know of their own commits: which files a batch has, and what the table was before."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from headgate.integrations.table_log import TableLog, open_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_numbers = itertools.count()
EXACT = "%Y-%m-%dT%H:%M:%S.%f"
SCHEMAS = {"iceberg": "lake.shop", "delta": "default"}


@pytest.fixture(params=list(SCHEMAS))
def log(request: pytest.FixtureRequest, spark: SparkSession) -> TableLog:
    """The log of a table with two days."""
    table = f"{SCHEMAS[request.param]}.log{next(_numbers)}"
    spark.sql(f"CREATE TABLE {table} (day STRING, price INT) USING {request.param} PARTITIONED BY (day)")
    spark.sql(f"INSERT INTO {table} VALUES ('mon', 1), ('tue', 2)")
    return open_log(request.param, table, spark)


CHANGES: dict[str, str] = {
    "a row more": "INSERT INTO {table} VALUES ('mon', 3)",
    "a row less": "DELETE FROM {table} WHERE day = 'mon'",
    "another value": "UPDATE {table} SET price = 9 WHERE day = 'mon'",
    "replaced": "INSERT OVERWRITE {table} SELECT 'mon', 7",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_a_batch_that_changes_is_another(log: TableLog, change: str) -> None:
    before = log.identify_batch("day", "mon")
    assert before == log.identify_batch("day", "mon")
    log.spark.sql(change.format(table=log.table))
    assert log.identify_batch("day", "mon") != before


def test_a_change_of_another_batch_leaves_it(log: TableLog) -> None:
    before = log.identify_batch("day", "mon")
    log.spark.sql(f"INSERT INTO {log.table} VALUES ('wed', 3)")
    log.spark.sql(f"DELETE FROM {log.table} WHERE day = 'tue'")
    assert log.identify_batch("day", "mon") == before


def test_old_states_of_the_table_can_be_read_again(log: TableLog) -> None:
    log.spark.sql(f"INSERT OVERWRITE {log.table} SELECT 'mon', 7")
    newest = log.list_snapshots(EXACT)[-1]
    older = log.list_snapshots(EXACT)[-2]
    assert [row["price"] for row in log.read_snapshot(newest).collect()] in ([7], [7, 2], [2, 7])
    assert sorted(row["price"] for row in log.read_snapshot(older).collect()) == [1, 2]


RESTORE: dict[str, Callable[[str, int], str]] = {
    "iceberg": lambda table, at: f"CALL lake.system.rollback_to_snapshot('{table}', {at})",
    "delta": lambda table, at: f"RESTORE TABLE {table} TO VERSION AS OF {at}",
}


def test_what_was_rolled_back_does_not_count(log: TableLog) -> None:
    good = log.list_snapshots(EXACT)[-1]
    log.spark.sql(f"INSERT INTO {log.table} VALUES ('mon', 100)")
    form, _, number = good.source.partition(":")
    log.spark.sql(RESTORE[form](log.table.removeprefix("lake."), int(number)))
    found = [sorted(row["price"] for row in log.read_snapshot(each).collect()) for each in log.list_snapshots(EXACT)]
    assert [1, 2, 100] not in found
    assert found[-1] == [1, 2]


def test_of_several_commits_on_a_day_the_last_one_counts(log: TableLog) -> None:
    log.spark.sql(f"INSERT INTO {log.table} VALUES ('wed', 3)")
    last = log.list_snapshots(EXACT)[-1]
    days = log.list_snapshots()
    assert len(days) in (1, 2)  # two at midnight
    assert days[-1].source == last.source
    assert days[-1].partition == last.partition[:10]


def test_a_column_may_be_written_in_capital_letters(log: TableLog) -> None:
    assert log.identify_batch("DAY", "mon") == log.identify_batch("day", "mon") != ""


def test_the_batches_of_another_column_are_not_told(log: TableLog) -> None:
    assert log.identify_batch("price", "1") == ""
