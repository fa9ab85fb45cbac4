"""A stream as a process: `python -m benchmarks.streams.job ROOT SINK`. It prints a line after each micro-batch.

The source, the checkpoint, the history and the tables are in the folder ROOT; SINK is folders, delta or iceberg.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import headgate as hg
from benchmarks.values_mode import VALUES
from tests.integrations.streaming.clicks import SCHEMA, read_stream
from tests.integrations.tables.session import JARS, build_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHECKS = hg.Check("clicks").is_complete("page").has_min("price", at_least=0)
WINDOW = "5 minutes"


def start_session(root: Path) -> SparkSession:
    """A session whose tables are in the folder. Without the jars of table formats it has none."""
    from pyspark.sql import SparkSession

    plain = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config("spark.sql.shuffle.partitions", "2")
    )
    builder = build_session(root / "warehouse") if JARS else plain
    session = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def open_sink(spark: SparkSession, root: Path, kind: str) -> hg.Folders | hg.Delta | hg.Iceberg:
    """The place for rows, which is made if it is not there."""
    if kind == "folders":
        return hg.Folders(root / "out")
    table = str(root / "clicks") if kind == "delta" else "lake.shop.clicks"
    name = f"delta.`{table}`" if kind == "delta" else table
    spark.sql(f"CREATE TABLE IF NOT EXISTS {name} ({SCHEMA}) USING {kind} PARTITIONED BY (country)")
    publisher: Any = hg.Delta if kind == "delta" else hg.Iceberg
    bad = f"{table}_bad"
    made: hg.Delta | hg.Iceberg = publisher(table, "country", spark=spark, quarantine=bad)
    return made


def main(root: Path, kind: str) -> None:
    spark = start_session(root)
    store = hg.open_store(f"sqlite:///{root}/dq.db", values=VALUES)
    gate = hg.StreamGate(
        hg.Gate("clicks", store=store, checks=CHECKS),
        time="at",
        window=WINDOW,
        delay="0 minutes",
        state=str(root / "checkpoint" / "headgate"),
        sink=open_sink(spark, root, kind),
    )

    def take(df: Any, number: int) -> None:
        gate(df, number)
        print(f"micro-batch {number}", flush=True)

    query = (
        read_stream(spark, root / "in")
        .writeStream.foreachBatch(take)
        .option("checkpointLocation", str(root / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    gate.finish()
    print("finished", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
