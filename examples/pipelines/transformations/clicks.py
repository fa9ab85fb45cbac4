"""A declarative pipeline: rows that break a condition go to a quarantine, and a table that is not as it was is held."""

from __future__ import annotations

from pathlib import Path

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession, functions

import headgate as hg

HERE = Path(__file__).parents[1]
spark = SparkSession.active()

rules = (
    hg.expect("price is usual", "price < 500")
    + hg.expect_or_drop({"has a page": "page IS NOT NULL", "price is right": "price >= 0"})
    + hg.expect_or_fail("has an id", "id IS NOT NULL")
)


def read_arriving() -> DataFrame:
    schema = "id BIGINT, day STRING, page STRING, price DOUBLE"
    return spark.readStream.schema(schema).parquet(str(HERE / "arriving"))


@dp.table
@rules
def clicks() -> DataFrame:
    return read_arriving()


@dp.table
def clicks_quarantine() -> DataFrame:
    return rules.select_dropped(read_arriving())


@dp.materialized_view
def clicks_expectations() -> DataFrame:
    return rules.count(spark.read.table("clicks"), dropped=spark.read.table("clicks_quarantine"))


def open_gate() -> hg.Gate:
    return hg.Gate("last_day", store=hg.open_store(f"sqlite:///{HERE}/history.db"))


@dp.materialized_view
@hg.expect_learned_or_fail(open_gate, partition=(HERE / "day").read_text())
def last_day() -> DataFrame:
    return spark.read.table("clicks").where("day = (SELECT max(day) FROM clicks)").select("id", "page", "price")


@dp.materialized_view
def prices() -> DataFrame:
    return spark.read.table("last_day").groupBy("page").agg(functions.avg("price").alias("price"))
