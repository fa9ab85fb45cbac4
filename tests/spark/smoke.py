"""One short run against whatever Spark is installed: all kinds of columns, one job, the local engine's values.

usage: python tests/spark/smoke.py [--connect] [--jars JARS] [--json FILE]

It stands alone: an environment with the package and an older Spark is all it needs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import socket
import sys
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
from pyspark.sql import DataFrame, SparkSession

import headgate as hg

ROWS = 150  # few enough for every sketch to be exact, so that both engines must agree to the last digit but rounding
MORE = [
    "uniqueness(whole)",
    "uniqueness(word, flag)",
    "entropy(word)",
    "mutual_information(word, whole)",
    "correlation(whole, price)",
    'mean(double) where "whole > 20 and word is not null"',
    'size() where "flag"',
    "compliance(predicate=\"price > 3 or word = 'a1'\")",
    'pattern_match(word, pattern="^[a-z]")',
]


def table() -> pa.Table:
    every = range(ROWS)
    start = datetime(2024, 2, 28, 23, 59, 59, 7, tzinfo=UTC)
    odd = [float("nan"), float("inf"), -0.0, 0.0]
    words = ["", "a1", "Ünïcode", "日本語", "🚰", "2026-11-15", None]
    moments = [start + timedelta(hours=at) for at in every]
    return pa.table(
        {
            "whole": pa.array([None if at % 9 == 0 else at % 50 for at in every], pa.int32()),
            "double": pa.array([odd[at % 4] if at % 10 == 0 else at / 7 for at in every], pa.float64()),
            "price": pa.array([Decimal(at) / 4 for at in every], pa.decimal128(10, 2)),
            "amount": pa.array([Decimal(at) * 10**15 + Decimal("1e-18") for at in every], pa.decimal128(38, 18)),
            "flag": pa.array([at % 2 == 0 for at in every], pa.bool_()),
            "word": pa.array([words[at % 7] for at in every], pa.string()),
            "day": pa.array([date(2024, 2, 28) + timedelta(days=at) for at in every], pa.date32()),
            "moment": pa.array(moments, pa.timestamp("us", "UTC")),
            "wall": pa.array([each.replace(tzinfo=None) for each in moments], pa.timestamp("us")),
            "raw": pa.array([bytes([at, 255]) for at in every], pa.binary()),
            "many": pa.array([[at] if at % 3 else None for at in every], pa.list_(pa.int32())),
            "pair": pa.array([{"x": at} for at in every], pa.struct([("x", pa.int64())])),
        }
    )


def open_session(jars: str, port: int) -> SparkSession:
    """A classic session; with a port, its JVM also serves Connect there."""
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("headgate-smoke")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "Asia/Kolkata")
        .config("spark.sql.files.maxPartitionBytes", "8k")
        .config("spark.jars", jars)
    )
    if port:
        builder = (
            builder.config("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
            .config("spark.connect.grpc.binding.address", "127.0.0.1")
            .config("spark.connect.grpc.binding.port", str(port))
        )
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def open_connect(port: int) -> SparkSession:
    """A Connect session of the server on this machine."""
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    session: Any = ConnectSession.builder.remote(f"sc://127.0.0.1:{port}").create()
    session.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    session.conf.set("spark.sql.files.maxPartitionBytes", "8k")
    return session


def count_jobs(classic: SparkSession) -> int:
    """The number of jobs of every session of the JVM until now."""
    context = classic.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    return int(context.statusStore().jobsList(None).size())


def differs(one: Any, two: Any) -> bool:
    if isinstance(one, hg.Measured) and isinstance(two, hg.Measured) and isinstance(one.value, float):
        return not math.isclose(one.value, two.value, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one != two)


def check(spark: SparkSession, classic: SparkSession, path: str) -> tuple[int, int, list[str]]:
    """How many metrics were compared, how many jobs they took, and a line for each thing that is wrong."""
    data = table()
    # files of one row group each, so that there are several tasks and no shuffle of the caller's
    for at in range(0, ROWS, 50):
        pq.write_table(data.slice(at, 50), f"{path}/part-{at}.parquet")
    # Without a schema, Connect 3.5 looks into the files again for each question about the plan.
    frame = spark.read.schema(spark.read.parquet(path).schema).parquet(path)
    asked = [*hg.analyze(data), *MORE]
    expected = hg.analyze(data, asked)
    before = count_jobs(classic)
    found = hg.analyze(frame, asked)
    jobs = count_jobs(classic) - before
    wrong = [f"{key}: {found[key]} is not {expected[key]}" for key in expected if differs(found[key], expected[key])]
    wrong += [f"{key}: {outcome.why}" for key, outcome in expected.items() if isinstance(outcome, hg.Failed)]
    if jobs != 1:
        wrong.append(f"{jobs} jobs were started, not 1")
    if found.schema.labels != expected.schema.labels:
        wrong.append(f"the columns are {found.schema.labels}")
    if hg.Analysis.from_bytes((found + found).to_bytes()).value("size()") != 2 * ROWS:
        wrong.append("the analysis does not merge and load")
    wrong += check_parts(frame, data, f"{path}-kept") + check_verdict(frame, data)
    return len(expected), jobs, wrong


def check_parts(frame: DataFrame, data: pa.Table, keep: str) -> list[str]:
    """What is wrong with the parts of the table, kept in files or not, and with views of them."""
    by, asked = ["flag", "word"], ["size()", "mean(double)", "uniqueness(whole)", "approx_count_distinct(day)"]
    expected = hg.analyze(data, asked, by=by)
    wrong = []
    for found in (hg.analyze(frame, asked, by=by), hg.analyze(frame, asked, by=by, keep=keep)):
        if list(found) != list(expected):
            wrong.append(f"the parts are {list(found)}")
            continue
        pairs = [(found[part], expected[part]) for part in expected] + [
            (found.view(flag=True), expected.view(flag=True))
        ]
        wrong += [
            f"{key}: {one[key]} is not {two[key]}" for one, two in pairs for key in two if differs(one[key], two[key])
        ]
    return wrong


def check_verdict(frame: DataFrame, data: pa.Table) -> list[str]:
    """What is wrong with a verdict and with the rows to blame: both engines must say the same."""
    rules = (
        hg.Check("smoke")
        .is_complete("whole", "word")
        .is_unique("whole", by="flag")
        .is_primary_key("word", "day")
        .has_pattern("word", "^[a-z0-9]+$")
        .is_contained_in("word", ["a1", "it's \\ here"], warn={"at_least": 0.9}, error={"at_least": 0.1})
        .has_min("day", at_least=date(2024, 3, 1))
        .has_max("moment", at_most=datetime(2024, 3, 2, tzinfo=UTC))
        .has_min("wall", at_least=datetime(2024, 2, 29, 12))
        .has_max("double", at_most=15)
        .satisfies("price < 30", where="flag")
        .is_contained_in_table("whole", table="other")
        .has_mean("double", at_least=1000)
    )
    spark = frame.sparkSession
    other = pa.table({"whole": pa.array(range(5, 60), pa.int64())})
    expected = hg.verify(data, rules, tables={"other": other})
    found = hg.verify(
        frame, rules, tables={"other": spark.createDataFrame([(at,) for at in range(5, 60)], "whole bigint")}
    )
    wrong = [
        f"{one.reason} is not {two.reason}"
        for one, two in zip(found.judgements, expected.judgements, strict=True)
        if (one.status, one.segment) != (two.status, two.segment)
    ]
    rows = {row["day"]: [tuple(each) for each in row["headgate_reasons"]] for row in found.rows(frame).collect()}
    pairs = zip(*(expected.rows(data).column(name).to_pylist() for name in ("day", "headgate_reasons")), strict=True)
    wanted = {day: [tuple(each.values()) for each in reasons] for day, reasons in pairs}
    if {day: [each[:3] for each in told] for day, told in rows.items()} != {
        day: [each[:3] for each in told] for day, told in wanted.items()
    }:
        wrong.append(f"{len(rows)} rows are to blame, or for other reasons than {len(wanted)}")
    return wrong if expected.failures else ["nothing failed, so nothing was compared"]


def find_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def main() -> int:
    parser = argparse.ArgumentParser(description="One short run against whatever Spark is installed.")
    parser.add_argument("--connect", action="store_true", help="through a Connect session")
    parser.add_argument("--jars", default="", help="of a Connect server, if Spark does not have them")
    parser.add_argument("--json", type=Path, help="where to write what was measured")
    given = parser.parse_args()
    began = time.monotonic()
    port = find_port() if given.connect else 0
    classic = open_session(given.jars, port)
    try:
        spark = open_connect(port) if given.connect else classic
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table"
            path.mkdir()
            count, jobs, wrong = check(spark, classic, str(path))
        if spark is not classic:
            spark.stop()  # before its server: a client of Spark 4.2 asks it for minutes when the process ends
    finally:
        classic.stop()
    for line in wrong:
        print(f"smoke: {line}", file=sys.stderr)
    took = time.monotonic() - began
    if given.json is not None:
        found = {"metrics": count, "wrong": len(wrong), "jobs": jobs, "seconds": round(took, 1)}
        given.json.write_text(json.dumps(found), encoding="utf-8")
    if wrong:
        return 1
    how = "Connect" if given.connect else "classic"
    print(f"smoke: pyspark {pyspark.__version__} {how} ok, {count} metrics, {jobs} job, {took:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
