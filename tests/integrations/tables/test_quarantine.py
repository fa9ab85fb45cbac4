"""Batches that are split: good rows in the table, bad ones in the quarantine table with reasons, and the way back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import headgate as hg
from headgate.integrations.delta import Delta
from headgate.integrations.iceberg import Iceberg
from headgate.store.fault_points import watch
from headgate.values.errors import MisuseError, PublishError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headgate.gate.batch_verdict import BatchVerdict

DAY = "2026-11-14"
FORMATS = {"iceberg": ("lake.shop", Iceberg), "delta": ("default", Delta)}
CHECK = hg.Check("orders").is_non_negative("price").is_unique("id")
_numbers = itertools.count()


class Killed(BaseException):
    """Stands for the end of the process."""


class Shop:
    """A table with a quarantine table, and a gate before it."""

    def __init__(self, spark: SparkSession, form: str) -> None:
        schema, kind = FORMATS[form]
        number = next(_numbers)
        self.spark, self.form = spark, form
        self.table, self.bad = f"{schema}.sales{number}", f"{schema}.sales{number}_bad"
        spark.sql(f"CREATE TABLE {self.table} (day STRING, id BIGINT, price DOUBLE) USING {form} PARTITIONED BY (day)")
        self.publisher = kind(self.table, "day", spark=spark, quarantine=self.bad)
        self.store = hg.open_store("memory:", values="plain")

    @property
    def gate(self) -> hg.Gate:
        """A gate as a new process opens it."""
        return hg.Gate("sales", store=self.store, checks=[CHECK], learn=[], publisher=self.publisher)

    def judge(self, prices: str, day: str = DAY) -> BatchVerdict:
        """Stage and judge ten rows; `prices` is an expression over the number of the row."""
        rows = self.spark.sql(f"SELECT '{day}' AS day, id, CAST({prices} AS DOUBLE) AS price FROM range(10)")
        self.publisher.stage(rows, day)
        return self.gate.judge(lambda: self.publisher.read_staged(day), partition=day)

    def split(self, verdict: BatchVerdict, **options: Any) -> None:
        held = self.publisher.read_batch(verdict.delivery)
        self.publisher.stage_parts(verdict.revision, *verdict.split(held, **options))
        self.gate.split(verdict.partition, lambda: self.publisher.read_staged(verdict.partition, "good"), who="ann")

    def seen(self) -> list[int]:
        """The rows that readers have."""
        self.spark.sql(f"REFRESH TABLE {self.table}")
        return sorted(row["id"] for row in self.spark.table(self.table).collect())

    def kept_out(self, where: str = "true") -> list[int]:
        self.spark.sql(f"REFRESH TABLE {self.bad}")
        return sorted(row["id"] for row in self.spark.table(self.bad).where(where).collect())

    def repair(self, rows: DataFrame) -> DataFrame:
        return rows.selectExpr("day", "id", "abs(price) AS price", "headgate_reasons", "headgate_partition")


@pytest.fixture(params=list(FORMATS))
def shop(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[Shop]:
    made = Shop(spark, request.param)
    yield made
    for table in (made.table, made.bad):
        spark.sql(f"DROP TABLE IF EXISTS {table}")


def test_bad_rows_are_kept_out_with_their_reasons_and_come_back_repaired(shop: Shop) -> None:
    verdict = shop.judge("if(id IN (3, 7), -id, id)")
    assert verdict.action == "hold"
    assert verdict.can_split
    shop.split(verdict, values="hidden")
    assert shop.seen() == [0, 1, 2, 4, 5, 6, 8, 9]
    rows = shop.publisher.quarantine.read(DAY).orderBy("id").collect()  # type: ignore[union-attr]
    assert [(row["id"], row["price"], row["headgate_partition"], row["headgate_revision"]) for row in rows] == [
        (3, -3.0, DAY, 1),
        (7, -7.0, DAY, 1),
    ]
    assert rows[0]["headgate_reasons"][0].asDict() == {
        "rule": "is_non_negative(price)",
        "level": "error",
        "columns": "price",
        "value": None,
        "message": "not true: price >= 0 AND NOT isnan(price)",
    }
    assert shop.publisher.state(verdict.delivery.only_part("bad")) == "held"
    assert shop.publisher.locate(verdict.delivery.only_part("bad")) == shop.bad

    shop.publisher.stage_repaired(shop.repair(shop.publisher.quarantine.read(DAY)), DAY)  # type: ignore[union-attr]
    again = shop.gate.judge(lambda: shop.publisher.read_staged(DAY), partition=DAY)
    assert again.action == "publish"
    assert again.revision.number == 2
    assert shop.seen() == list(range(10))


def test_rows_that_are_repaired_badly_are_held_again(shop: Shop) -> None:
    shop.split(shop.judge("if(id = 3, -1, id)"))
    shop.publisher.stage_repaired(shop.publisher.quarantine.read(DAY), DAY)  # type: ignore[union-attr]
    assert shop.gate.judge(lambda: shop.publisher.read_staged(DAY), partition=DAY).action == "hold"
    assert shop.seen() == [0, 1, 2, 4, 5, 6, 7, 8, 9]


def test_repaired_rows_are_not_staged_over_what_somebody_else_changes(shop: Shop) -> None:
    shop.split(shop.judge("if(id = 3, -1, id)"))
    insert = f"INSERT INTO {shop.table} VALUES ('{DAY}', 99, 1.0)"
    changed = False

    def change(point: str) -> None:
        nonlocal changed
        if point.endswith(".written") and not changed:
            changed = True
            shop.spark.sql(insert)

    repaired = shop.repair(shop.publisher.quarantine.read(DAY))  # type: ignore[union-attr]
    with watch(change), pytest.raises(PublishError, match="was changed while rows were added"):
        shop.publisher.stage_repaired(repaired, DAY)
    assert shop.publisher.list_staged() == []
    shop.publisher.stage_repaired(repaired, DAY)
    assert shop.gate.judge(lambda: shop.publisher.read_staged(DAY), partition=DAY).action == "publish"
    assert shop.seen() == [*range(10), 99]


def test_a_split_that_is_killed_anywhere_loses_and_doubles_no_row(shop: Shop) -> None:
    day, steps = 0, 1
    while day < steps:
        name = f"2026-10-{day + 1:02}"
        verdict = shop.judge("if(id IN (3, 7), -id, id)", name)
        seen: list[str] = []

        def stop(point: str, at: int = day, seen: list[str] = seen) -> None:
            seen.append(point)
            if len(seen) == 4 * at + 1:  # every fourth step: each is a run on both formats
                raise Killed

        with watch(stop):
            try:
                shop.split(verdict)
            except Killed:
                pass
            else:
                steps = day
        gate = shop.gate
        gate.recover()
        if gate.explain(name).decision != "split":
            shop.split(verdict)
        good = [row["id"] for row in shop.publisher.read_published(name).collect()]
        assert sorted(good) == [0, 1, 2, 4, 5, 6, 8, 9], f"killed at {seen[-1]}"
        assert shop.kept_out(f"headgate_partition = '{name}'") == [3, 7], f"killed at {seen[-1]}"
        steps = steps if steps == day else day + 2
        day += 1
    assert day > 5


def test_good_rows_are_not_published_without_their_bad_ones_in_quarantine(shop: Shop) -> None:
    verdict = shop.judge("if(id = 3, -1, id)")
    held = shop.publisher.read_batch(verdict.delivery)
    good, _ = verdict.split(held)
    shop.publisher.stage(good, DAY, "good")
    with pytest.raises(PublishError, match="the bad rows of sales 2026-11-14 are not staged"):
        shop.gate.split(DAY, lambda: shop.publisher.read_staged(DAY, "good"))
    with pytest.raises(MisuseError, match="have no column headgate_reasons"):
        shop.publisher.stage_parts(verdict.revision, good, good)
    assert shop.seen() == []


def test_repaired_rows_are_added_once(shop: Shop) -> None:
    shop.split(shop.judge("if(id = 3, -1, id)"))
    for _ in range(2):  # a job that is killed after it has staged the rows begins again
        shop.publisher.stage_repaired(shop.repair(shop.publisher.quarantine.read(DAY)), DAY)  # type: ignore[union-attr]
    assert shop.gate.judge(lambda: shop.publisher.read_staged(DAY), partition=DAY).action == "publish"
    with pytest.raises(PublishError, match="readers do not have a part"):
        shop.publisher.stage_repaired(shop.repair(shop.publisher.quarantine.read(DAY)), DAY)  # type: ignore[union-attr]
    assert shop.seen() == list(range(10))


def test_parts_that_are_not_the_whole_batch_are_refused(shop: Shop) -> None:
    verdict = shop.judge("if(id = 3, -1, id)")
    good, bad = verdict.split(shop.publisher.read_batch(verdict.delivery))
    with pytest.raises(PublishError, match="8 good and 1 bad rows are not the 10 rows"):
        shop.publisher.stage_parts(verdict.revision, good.where("id > 0"), bad)
    shop.publisher.stage_parts(verdict.revision, good.limit(0), good.unionByName(bad, allowMissingColumns=True))
    with pytest.raises(MisuseError, match="has no good rows"):
        shop.gate.split(DAY, lambda: shop.publisher.read_staged(DAY, "good"))
    assert shop.gate.explain(DAY).decision == "held"


def test_a_table_has_a_quarantine_of_its_own(shop: Shop) -> None:
    shop.split(shop.judge("if(id = 3, -1, id)"))
    other = Shop(shop.spark, shop.form)
    other.publisher = type(shop.publisher)(other.table, "day", spark=shop.spark, quarantine=shop.bad)
    verdict = other.judge("if(id = 5, -1, id)")
    with pytest.raises(MisuseError, match="is not the quarantine of this table"):
        other.split(verdict)
    assert shop.kept_out() == [3]
    shop.spark.sql(f"DROP TABLE {other.table}")


def test_bad_rows_of_an_older_revision_do_not_count(shop: Shop) -> None:
    shop.split(shop.judge("if(id = 3, -1, id)"))
    verdict = shop.judge("if(id = 5, -1, id)")
    good, _ = verdict.split(shop.publisher.read_batch(verdict.delivery))
    shop.publisher.stage(good, DAY, "good")
    with pytest.raises(PublishError, match="the bad rows of sales 2026-11-14 are not staged"):
        shop.gate.split(DAY, lambda: shop.publisher.read_staged(DAY, "good"), number=2)
    assert shop.gate.explain(DAY, 2).decision == "held"


def test_fields_of_a_struct_may_have_any_name(shop: Shop) -> None:
    shop.spark.sql(
        f"ALTER TABLE {shop.table} ADD COLUMNS (more STRUCT<`a-b`: INT, list: ARRAY<STRUCT<`x-y`: STRING>>>)"
    )
    rows = shop.spark.sql(
        f"SELECT '{DAY}' AS day, id, if(id = 4, -1.0D, 1.0D) AS price, "
        "named_struct('a-b', 1, 'list', array(named_struct('x-y', 'z'))) AS more FROM range(9)"
    )
    shop.publisher.stage(rows, DAY)
    shop.split(shop.gate.judge(lambda: shop.publisher.read_staged(DAY), partition=DAY))
    assert shop.kept_out() == [4]


def test_columns_may_come_and_go(shop: Shop) -> None:
    shop.split(shop.judge("if(id = 3, -1, id)"))
    shop.spark.sql(f"ALTER TABLE {shop.table} ADD COLUMNS (note STRING)")
    rows = shop.spark.sql(
        "SELECT '2026-11-15' AS day, id, if(id = 4, -1.0D, 1.0D) AS price, 'new' AS note FROM range(9)"
    )
    shop.publisher.stage(rows, "2026-11-15")
    shop.split(shop.gate.judge(lambda: shop.publisher.read_staged("2026-11-15"), partition="2026-11-15"))
    shop.spark.sql(f"REFRESH TABLE {shop.bad}")
    found = {row["id"]: row["note"] for row in shop.spark.table(shop.bad).collect()}
    assert found == {3: None, 4: "new"}


def test_without_a_quarantine_table_bad_rows_are_kept_as_a_held_batch(shop: Shop) -> None:
    shop.publisher.quarantine = None
    verdict = shop.judge("if(id IN (3, 7), -id, id)")
    shop.split(verdict)
    assert shop.seen() == [0, 1, 2, 4, 5, 6, 8, 9]
    assert shop.publisher.state(verdict.delivery.only_part("bad")) == "held"
