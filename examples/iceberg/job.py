"""A daily job that writes to an Iceberg table through the gate: ten good days, and one whose prices are in cents.

Run it with the Iceberg runtime that fits the Spark:

    spark-submit --packages org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0 examples/iceberg/job.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

import headgate as hg

TABLE = "lake.shop.orders"


def open_spark(warehouse: Path) -> SparkSession:
    """A session with a catalogue of Iceberg tables in a folder."""
    return (
        SparkSession.builder.appName("orders")
        .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.lake.type", "hadoop")
        .config("spark.sql.catalog.lake.warehouse", str(warehouse))
        .getOrCreate()
    )


def main() -> None:
    root = Path(tempfile.mkdtemp())
    spark = open_spark(root / "warehouse")
    spark.sql(f"CREATE TABLE {TABLE} (day STRING, id BIGINT, price DOUBLE) USING iceberg PARTITIONED BY (day)")

    orders = hg.Iceberg(TABLE, by="day", spark=spark)
    gate = hg.Gate("orders", store=hg.open_store(str(root / "history")), publisher=orders)
    for number in range(1, 12):
        day, factor = f"2026-11-{number:02}", 100 if number == 11 else 1
        df = spark.sql(f"SELECT '{day}' AS day, id, {factor} * (20 + 5 * rand({number})) AS price FROM range(1000)")
        orders.stage(df, day)
        verdict = gate.judge(lambda day=day: orders.read_staged(day), partition=day)  # type: ignore[misc]
    print(verdict)

    print("readers see", spark.table(TABLE).select("day").distinct().count(), "days")
    gate.release("2026-11-11", note="the shop sells in cents from today on", who="ann")
    print("after the release", spark.table(TABLE).select("day").distinct().count(), "days")


if __name__ == "__main__":
    main()
