"""`python -m benchmarks.engine [--quick] [--only NAME]`: alternating runs in one process, medians, a JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import headgate as hg
from benchmarks.engine import choices, data
from benchmarks.engine.native import native_sql
from benchmarks.engine.page import write_page
from headgate.analyzers.base.registry import default_metrics
from headgate.engine.plan import make_plan
from headgate.engine.spark import _selected, batch_settings, open_spark
from headgate.engine.spark_session import settings
from headgate.engine.spark_tasks import ROW, fold_task

RESULTS = Path(__file__).parent / "results"
WARM = 3


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true", help="a tenth of the rows and 3 rounds")
    options.add_argument("--only", default="", help="run the experiments whose name has this in it")
    options.add_argument("--rounds", type=int, default=0)
    options.add_argument("--no-native", action="store_true", help="leave hand-written Spark SQL out")
    given = options.parse_args()
    rounds = given.rounds or (3 if given.quick else 5)
    scale = 10 if given.quick else 1
    spark = _session()
    found: dict[str, Any] = {"versions": _versions(), "rounds": rounds, "experiments": {}}
    for name, path, rows, with_native in _experiments(scale):
        if given.only not in name:
            continue
        frame = spark.read.parquet(str(path()))
        brief = name.startswith("linear")
        result = _compare(frame, rows, rounds, with_native and not given.no_native, brief)
        found["experiments"][name] = result
        _print(name, result)
    if not given.only or given.only == "local":
        found["experiments"]["local 1,000 x 10"] = local = _local(rounds)
        print(f"local engine, 1,000 x 10: {local['milliseconds']:.1f} ms warm (median of {local['runs']})")
    if not given.only or given.only == "choices":
        rows = 2_000_000 // scale
        found["choices"] = {
            "exact uniqueness, seconds": choices.groupings(spark, rows, rounds),
            "batches, seconds": choices.byte_limit(spark, rows // 4, rounds),
            "one batch of 25,000 strings, nanoseconds a value": choices.sketches(rounds),
        }
        print(json.dumps(found["choices"], indent=1))
    if not given.only and not given.quick:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "engine.json").write_text(json.dumps(found, indent=1) + "\n")
        write_page(found)
    spark.stop()


def _experiments(scale: int) -> Iterator[tuple[str, Callable[[], Path], int, bool]]:
    two_million = 2_000_000 // scale
    yield "mixed 2M x 40", lambda: data.mixed(two_million, 40), two_million, True
    yield "wide 40k x 500", lambda: data.mixed(40_000 // scale, 500), 40_000 // scale, False
    yield "uuids 2M x 1", lambda: data.uuids(two_million), two_million, True
    for rows in (500_000, 1_000_000, 2_000_000, 4_000_000):
        size = rows // scale
        yield f"linear {rows / 1e6:g}M x 10", lambda size=size: data.mixed(size, 10), size, False


def _compare(frame: DataFrame, rows: int, rounds: int, with_native: bool, brief: bool) -> dict[str, Any]:
    """Scan, transfer, fold and the whole (briefly: scan and whole) in turn, so that noise meets all alike."""
    steps = {
        "scan": lambda: frame.write.format("noop").mode("overwrite").save(),
        "transfer": lambda: _through(frame, lambda plan: _swallow),
        "fold": lambda: _through(frame, fold_task),
        "whole": lambda: hg.analyze(frame).outcomes,
    }
    steps = {name: step for name, step in steps.items() if not brief or name in ("scan", "whole")}
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(1 if brief else WARM):  # the JVM's compiler, the page cache, the Python workers
        for step in steps.values():
            step()
    for _ in range(rounds):
        for name, step in steps.items():
            times[name].append(_seconds(step))
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    cells = rows * len(frame.columns)
    size = sum(file.stat().st_size for file in Path(frame.inputFiles()[0].removeprefix("file://")).parent.iterdir())
    result = {
        "rows": rows,
        "columns": len(frame.columns),
        "parquet_mb": size / 1e6,
        "seconds": times,
        "median_seconds": medians,
        "ratio_to_scan": medians["whole"] / medians["scan"],
        "ratio_by_round": [whole / scan for whole, scan in zip(times["whole"], times["scan"], strict=True)],
        "mb_per_second_per_core": size / 1e6 / medians["whole"] / _cores(),
        "cells_per_second_per_core": cells / medians["whole"] / _cores(),
    }
    if not brief:
        result["split_seconds"] = {
            "scan": medians["scan"],
            "transfer": medians["transfer"] - medians["scan"],
            "fold": medians["fold"] - medians["transfer"],
            "merge_and_driver": medians["whole"] - medians["fold"],
        }
    if with_native:
        taken = statistics.median(_seconds(lambda: native_sql(frame)) for _ in range(3))
        result |= {"native_sql_seconds": taken, "native_sql_ratio_to_scan": taken / medians["scan"]}
    return result


def _through(frame: DataFrame, task: Callable[[Any], Any]) -> None:
    plan = make_plan(schema := open_spark(frame), default_metrics(schema))
    with settings(frame.sparkSession, batch_settings(plan)):
        _selected(frame, plan).mapInArrow(task(plan), ROW).write.format("noop").mode("overwrite").save()


def _swallow(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield from ()


def _local(rounds: int) -> dict[str, Any]:
    table = data.mixed_chunk(np.random.default_rng(1), 1_000, 10)
    hg.analyze(table).outcomes  # noqa: B018
    taken = [_seconds(lambda: hg.analyze(table).outcomes) for _ in range(max(31, rounds))]
    return {"rows": 1_000, "columns": 10, "milliseconds": statistics.median(taken) * 1e3, "runs": len(taken)}


def _seconds(step: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    step()
    return time.perf_counter() - begin


def _session() -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return (
        SparkSession.builder.master(f"local[{_cores()}]")
        .config("spark.driver.memory", "6g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )


def _cores() -> int:
    return os.cpu_count() or 1


def _versions() -> dict[str, str]:
    names = ("pyspark", "pyarrow", "numpy", "datasketches", "msgspec")
    return {"python": platform.python_version(), "cores": str(_cores())} | {name: version(name) for name in names}


def _print(name: str, result: dict[str, Any]) -> None:
    split = ", ".join(f"{part} {seconds:.2f}" for part, seconds in result.get("split_seconds", {}).items())
    whole, ratio = result["median_seconds"]["whole"], result["ratio_to_scan"]
    rate, cells = result["mb_per_second_per_core"], result["cells_per_second_per_core"] / 1e6
    print(
        f"{name}: {whole:.2f} s = {ratio:.2f} x scan; {split} s; {rate:.1f} MB/s, {cells:.2f} M cells/s a core",
        flush=True,
    )
    if "native_sql_seconds" in result:
        taken, times = result["native_sql_seconds"], result["native_sql_ratio_to_scan"]
        print(f"  hand-written Spark SQL: {taken:.1f} s = {times:.1f} x scan", flush=True)


main()
