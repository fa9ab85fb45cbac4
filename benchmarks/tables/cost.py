"""The jobs and the time of stage, scan and publish, beside a plain write of the same rows."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from benchmarks.tables.lake import FORMATS
from benchmarks.timing import in_turn, medians
from benchmarks.values_mode import open_memory
from headgate.gate.gate import Gate
from headgate.integrations.delta import Delta
from headgate.integrations.iceberg import Iceberg
from tests.spark.jobs import count_jobs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = 20
_days = itertools.count()


def measure_cost(spark: SparkSession, form: str, rows: int, rounds: int) -> dict[str, Any]:
    """Seconds of each step, medians of rounds in which they take turns, and the jobs of each."""
    assert form in FORMATS
    schema = "lake.shop." if form == "iceberg" else ""
    plain, guarded = f"{schema}plain_{form}", f"{schema}guarded_{form}"
    data = _make(spark, rows).cache()
    data.count()
    for table in (plain, guarded):
        spark.sql(f"DROP TABLE IF EXISTS {table}")
        data.limit(0).write.format(form).partitionBy("day").saveAsTable(table)
    publisher = (Iceberg if form == "iceberg" else Delta)(guarded, "day", spark=spark)
    gate = Gate("orders", store=open_memory(), learn=[], publisher=publisher)
    day = ""

    def new_day() -> None:
        nonlocal day
        day = f"day{next(_days):04}"

    def write() -> None:
        frame = _of(data, day)
        if form == "iceberg":
            frame.writeTo(plain).overwritePartitions()
        else:
            frame.write.format("delta").mode("overwrite").option("replaceWhere", f"day = '{day}'").saveAsTable(plain)

    def stage() -> None:
        publisher.stage(_of(data, day), day)

    def judge() -> None:
        analysis.append(gate.judge(lambda: publisher.read_staged(day), day))

    analysis: list[Any] = []
    taken = in_turn({"day": new_day, "plain write": write, "stage": stage, "judge and publish": judge}, rounds)
    scan = in_turn({"scan": lambda: _scan(spark.table(plain).where(f"day = '{day}'"))}, rounds)
    jobs = {}
    new_day()
    for name, step in (("plain write", write), ("stage", stage), ("judge and publish", judge)):
        with count_jobs(spark) as started:
            step()
        jobs[name] = [each or "write" for each in started]
    data.unpersist()
    found = medians({**{name: taken[name] for name in taken if name != "day"}, **scan})
    return {"rows": rows, "columns": COLUMNS, "rounds": rounds, "seconds": found, "jobs": jobs}


def _make(spark: SparkSession, rows: int) -> DataFrame:
    numbers = [f"rand({at}) * 100 AS price_{at}" for at in range(9)]
    texts = [f"concat('code-', CAST(id % {7 + at} AS STRING)) AS code_{at}" for at in range(9)]
    return spark.sql(f"SELECT '' AS day, id, {', '.join([*numbers, *texts])} FROM range({rows})")


def _of(data: DataFrame, day: str) -> DataFrame:
    from pyspark.sql import functions

    return data.withColumn("day", functions.lit(day))


def _scan(batch: DataFrame) -> None:
    Gate("scanned", store=open_memory(), learn=[]).judge(batch, "day")
