"""One case on a cluster, in a process of its own: prints what was found as a line of JSON.

`python -m benchmarks.clusters.job CASE MASTER`; the Python of executors is PYSPARK_PYTHON.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import headgate as hg
from benchmarks.values_mode import open_memory
from headgate.values.errors import HeadgateError

METRICS = (
    "size()",
    "sum(id)",
    "uniqueness(id)",
    "completeness(text)",
    "entropy(text)",
    "approx_count_distinct(text)",
    "most_frequent_ratio(few)",
)
_WIDE = 5_000
_TEXT_COLUMNS, _TEXT_ROWS = 500, int(os.environ.get("HEADGATE_TEXT_ROWS", "100000"))


class Case:
    """A session on the cluster, and what it measures."""

    def __init__(self, master: str, **settings: str) -> None:
        builder = (
            SparkSession.builder.master(master)
            .appName("headgate-clusters")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.memory", "1g")
            .config("spark.executor.memory", "1g")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
        )
        for name, value in settings.items():
            builder = builder.config(name.replace("_", "."), value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("OFF")

    def make_rows(self, rows: int = 60_000, parts: int = 8) -> DataFrame:
        return self.spark.range(0, rows, 1, parts).selectExpr("id", "concat('v', id % 5000) AS text", "id % 7 AS few")

    def count_jobs(self) -> int:
        return len(self.spark.sparkContext.statusTracker().getJobIdsForGroup(None))

    def measure(self, data: DataFrame, metrics: Any = METRICS) -> dict[str, Any]:
        before, began = self.count_jobs(), time.monotonic()
        found = hg.analyze(data, metrics)
        failed = sum(type(outcome).__name__ == "Failed" for outcome in found.values())
        return {
            "values": {str(key): found.value(key) for key in METRICS} if metrics is METRICS else {},
            "metrics": len(found),
            "failed": failed,
            "jobs": self.count_jobs() - before,
            "seconds": round(time.monotonic() - began, 1),
        }


def expect_values(rows: int = 60_000) -> dict[str, float]:
    """What the engine without Spark finds in the same rows."""
    ids = list(range(rows))
    table = pa.table({"id": ids, "text": [f"v{each % 5000}" for each in ids], "few": [each % 7 for each in ids]})
    found = hg.analyze(table, METRICS)
    return {str(key): found.value(key) for key in METRICS}


def scan_without_package(case: Case) -> dict[str, Any]:
    """Executors without this package: its code is shipped, with a job more the first time."""
    first, second = case.measure(case.make_rows()), case.measure(case.make_rows())
    right = _is_right(first) and _is_right(second)
    return {"right": right, "jobs": [first["jobs"], second["jobs"]], "seconds": first["seconds"]}


def judge_without_modules(case: Case) -> dict[str, Any]:
    """Executors without a module that a scan needs: one sentence, no run that says the batch was held."""
    store = open_memory()
    began = time.monotonic()
    try:
        hg.Gate("orders", store=store).judge(case.make_rows(), partition="2026-11-18")
    except HeadgateError as error:
        said = f"{type(error).__name__}: {error}"
    else:
        said = ""
    return {
        "right": bool(said) and not list(store.revisions("orders", "2026-11-18")),
        "jobs": case.count_jobs(),
        "seconds": round(time.monotonic() - began, 1),
        "message": said,
    }


def lose_executor(case: Case) -> dict[str, Any]:
    """One of the two executors is killed while it scans: its tasks run again on the other."""
    case.measure(case.make_rows(1_000))
    slow = case.make_rows().mapInArrow(_sleep_between, "id bigint, text string, few bigint")
    killed: list[int] = []

    def kill() -> None:
        time.sleep(4.0)
        killed.append(_kill_executor())

    thread = threading.Thread(target=kill)
    thread.start()
    found = case.measure(slow)
    thread.join()
    return {"right": _is_right(found) and killed[0] == 2, "jobs": found["jobs"], "seconds": found["seconds"]}


def speculate(case: Case) -> dict[str, Any]:
    """Slow tasks are run twice, and counted once."""
    found = case.measure(case.make_rows().mapInArrow(_sleep_in_one, "id bigint, text string, few bigint"))
    return {"right": _is_right(found), "jobs": found["jobs"], "seconds": found["seconds"]}


def scan_skewed(case: Case) -> dict[str, Any]:
    """All rows in one of 64 partitions."""
    data = case.make_rows(60_000, 1).union(case.make_rows(0, 63))
    found = case.measure(data)
    return {"right": _is_right(found), "jobs": found["jobs"], "seconds": found["seconds"]}


def scan_small_files(case: Case) -> dict[str, Any]:
    """2,000 Parquet files of 30 rows."""
    folder = tempfile.mkdtemp(prefix="headgate-files-")
    case.make_rows(60_000, 2_000).write.mode("overwrite").parquet(folder)
    data = case.spark.read.parquet(folder)
    files, found = len(list(Path(folder).glob("*.parquet"))), case.measure(data)
    return {"right": _is_right(found) and files == 2_000, "jobs": found["jobs"], "seconds": found["seconds"]}


def scan_wide(case: Case) -> dict[str, Any]:
    """5,000 columns of numbers and texts, with the default metrics of each.

    Spark keeps vectors of thousands of values for every column. With executors of 1 GB it may have no memory for all of
    them at once; then the columns are scanned in several jobs.
    """
    columns = (f"{'id' if at % 2 else 'CAST(id AS STRING)'} AS c{at}" for at in range(_WIDE))
    data = case.spark.range(0, 2_000, 1, 4).selectExpr(*columns)
    found = case.measure(data, None)
    return {
        "right": found["failed"] == 0,
        "jobs": found["jobs"],
        "seconds": found["seconds"],
        "message": f"{found['metrics']:,} metrics; a worker had {_find_peak(case):,} MB at most",
    }


def scan_long_texts(case: Case) -> dict[str, Any]:
    """500 columns of texts of 200 characters, with the default metrics of each."""
    columns = (f"lpad(CAST(id * {at + 1} AS STRING), 200, 'x') AS c{at}" for at in range(_TEXT_COLUMNS))
    data = case.spark.range(0, _TEXT_ROWS, 1, 8).selectExpr(*columns)
    found = case.measure(data, None)
    peak = _find_peak(case)
    return {
        "right": found["failed"] == 0 and peak < 1_000,
        "jobs": found["jobs"],
        "seconds": found["seconds"],
        "message": f"{_TEXT_ROWS:,} rows; a worker had {peak:,} MB at most",
    }


def _is_right(found: dict[str, Any]) -> bool:
    wanted = expect_values()
    return all(abs(found["values"][key] - value) <= 1e-9 * abs(value) for key, value in wanted.items())


def _sleep_between(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        time.sleep(1.5)
        yield batch


def _sleep_in_one(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None and context.partitionId() == 7 and context.attemptNumber() == 0:
        time.sleep(20.0)
    yield from batches


def _kill_executor() -> int:
    """Kill an executor of the cluster. Says how many there were."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            is_executor = b"CoarseGrainedExecutorBackend" in (entry / "cmdline").read_bytes()
            if is_executor and str((entry / "cwd").readlink()).startswith(os.environ["HEADGATE_CLUSTER"]):
                found.append(int(entry.name))
    if found:
        os.kill(found[0], signal.SIGKILL)
    return len(found)


def _find_peak(case: Case) -> int:
    """The most memory in MB that a Python worker of the cluster has had; workers are used again by the next job."""

    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import resource

        for batch in batches:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            yield pa.RecordBatch.from_arrays([pa.array([peak] * batch.num_rows, pa.int64())], ["peak"])

    rows = case.spark.range(0, 64, 1, 16).mapInArrow(tell, "peak bigint").collect()
    return max(row["peak"] for row in rows)


CASES = {
    "without headgate": (scan_without_package, (), {}),
    "without msgspec": (judge_without_modules, ("msgspec",), {}),
    "without datasketches": (judge_without_modules, ("datasketches",), {}),
    "without pyarrow": (judge_without_modules, ("pyarrow",), {}),
    "an executor is killed in mid-scan": (lose_executor, (), {}),
    "speculation": (
        speculate,
        (),
        {"spark_speculation": "true", "spark_speculation_multiplier": "1.2", "spark_speculation_quantile": "0.3"},
    ),
    "all rows in one of 64 partitions": (scan_skewed, (), {}),
    "2,000 small files": (scan_small_files, (), {}),
    "5,000 columns, executors with 2 GB": (scan_wide, (), {"spark_executor_memory": "2g"}),
    "500 columns of texts of 200 characters": (scan_long_texts, (), {}),
}


def main() -> None:
    name, master = sys.argv[1:]
    run, _, settings = CASES[name]
    case = Case(master, **settings)
    print(json.dumps(run(case)))
    case.spark.stop()


if __name__ == "__main__":
    main()
