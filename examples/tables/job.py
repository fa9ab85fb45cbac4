"""A daily job that writes to an Iceberg or a Delta table through the gate: ten good days, and one with prices in cents.

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
    return spark, hg.Iceberg("lake.shop.orders", by="day", spark=spark)


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
    return spark, hg.Delta("orders", by="day", spark=spark)


def count_days(spark: SparkSession, table: str) -> int:
    """The days that a reader finds now."""
    return spark.table(table).select("day").distinct().count()


def main() -> None:
    root = Path(tempfile.mkdtemp())
    spark, orders = open_delta(root) if "delta" in sys.argv else open_iceberg(root)
    gate = hg.Gate("orders", store=hg.open_store(f"file://{root}/history"), publisher=orders)
    for number in range(1, 12):
        day, factor = f"2026-11-{number:02}", 100 if number == 11 else 1
        df = spark.sql(f"SELECT '{day}' AS day, id, {factor} * (20 + 5 * rand({number})) AS price FROM range(1000)")
        orders.stage(df, day)
        verdict = gate.judge(lambda day=day: orders.read_staged(day), partition=day)  # type: ignore[misc]
    print(verdict)

    assert verdict.action == "hold"
    assert count_days(spark, orders.table) == 10, "readers see no row of the held day"
    gate.release("2026-11-11", note="the shop sells in cents from today on", who="ann")
    assert count_days(spark, orders.table) == 11
    print("10 days were published, the 11th after a person released it")


if __name__ == "__main__":
    main()
