"""A daily job that writes to an Iceberg or a Delta table through the gate: ten good days, one with prices in cents, and
one with three bad rows, which are repaired.

spark-submit --packages org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0 examples/tables/job.py iceberg
spark-submit --packages io.delta:delta-spark_4.1_2.13:4.4.0 examples/tables/job.py delta
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

import headgate as hg


def open_iceberg(root: Path) -> tuple[SparkSession, hg.Iceberg]:
    """A session with a catalogue of Iceberg tables in a folder, and a new table."""
    spark = (
        SparkSession.builder.appName("orders")
        .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.lake.type", "hadoop")
        .config("spark.sql.catalog.lake.warehouse", str(root / "warehouse"))
        .getOrCreate()
    )
    spark.sql("CREATE TABLE lake.shop.orders (day STRING, id BIGINT, price DOUBLE) USING iceberg PARTITIONED BY (day)")
    return spark, hg.Iceberg("lake.shop.orders", by="day", spark=spark, quarantine="lake.shop.orders_bad")


def open_delta(root: Path) -> tuple[SparkSession, hg.Delta]:
    """A session that knows Delta tables, and a new table."""
    spark = (
        SparkSession.builder.appName("orders")
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.warehouse.dir", str(root / "warehouse"))
        .getOrCreate()
    )
    spark.sql("CREATE TABLE orders (day STRING, id BIGINT, price DOUBLE) USING delta PARTITIONED BY (day)")
    return spark, hg.Delta("orders", by="day", spark=spark, quarantine="orders_bad")


def count_rows(spark: SparkSession, table: str, where: str = "true") -> int:
    """The rows that a reader finds now."""
    spark.sql(f"REFRESH TABLE {table}")
    return spark.table(table).where(where).count()


def judge_day(gate: hg.Gate, orders: hg.Iceberg | hg.Delta, day: str, price: str) -> hg.BatchVerdict:
    """What the job does every day: stage the batch, and ask the gate."""
    df = orders.spark.sql(f"SELECT '{day}' AS day, id, {price} AS price FROM range(1000)")
    orders.stage(df, day)
    return gate.judge(lambda: orders.read_staged(day), partition=day)


def main() -> None:
    root = Path(tempfile.mkdtemp())
    spark, orders = open_delta(root) if "delta" in sys.argv else open_iceberg(root)
    check = hg.Check("orders").is_non_negative("price")
    gate = hg.Gate("orders", store=hg.open_store(f"file://{root}/history"), checks=[check], publisher=orders)
    for number in range(1, 11):
        judge_day(gate, orders, f"2026-11-{number:02}", f"20 + 5 * rand({number})")
    verdict = judge_day(gate, orders, "2026-11-11", "100 * (20 + 5 * rand(11))")
    print(verdict)
    assert verdict.action == "hold"
    assert count_rows(spark, orders.table) == 10_000, "readers see no row of the held day"
    gate.release("2026-11-11", note="the shop sells in cents from today on", who="ann")
    assert count_rows(spark, orders.table) == 11_000
    print("10 days were published, the 11th after a person released it\n")

    day = "2026-11-12"
    verdict = judge_day(gate, orders, day, "if(id < 3, -1.0D, 20 + 5 * rand(12))")
    print(verdict)
    assert verdict.can_split
    orders.stage_parts(verdict.revision, *verdict.split(orders.read_batch(verdict.delivery), values="hidden"))
    gate.split(day, lambda: orders.read_staged(day, "good"), note="three prices below zero", who="ann")
    assert count_rows(spark, orders.table, f"day = '{day}'") == 997
    assert orders.quarantine is not None
    bad = orders.quarantine.read(day)
    bad.select("id", "price", "headgate_reasons.message").show(truncate=False)
    orders.stage_repaired(bad.selectExpr("day", "id", "21.5D AS price"), day)
    assert gate.judge(lambda: orders.read_staged(day), partition=day).action == "publish"
    assert count_rows(spark, orders.table, f"day = '{day}'") == 1_000
    print("997 rows of the 12th were published at once, 3 after they were repaired")


if __name__ == "__main__":
    main()
