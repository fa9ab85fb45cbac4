"""`python -m benchmarks.engine [--quick] [--only NAME]`: alternating runs in one process, medians, a JSON."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

import headgate as hg
from benchmarks.engine import choices, data, folds
from benchmarks.engine.native import native_sql
from benchmarks.engine.page import SERIES, write_page
from benchmarks.timing import Spent, measure_in_turn, seconds, session, versions
from headgate.engine.local import limit_rows
from headgate.engine.plan import make_plan
from headgate.engine.spark import SparkBatch, _select_inputs, batch_settings
from headgate.engine.spark_files import SWITCH, plan_reading
from headgate.engine.spark_frame import open_spark
from headgate.engine.spark_settings import apply_settings
from headgate.engine.spark_tasks import ROW, fold_task
from headgate.engine.spark_workers import import_first
from headgate.metrics.base.registry import default_metrics

RESULTS = Path(__file__).parent / "results"
WARM = 1
WAYS = ("rows from Spark", "files read by tasks")

Run = Callable[[], dict[str, Any]]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true", help="a tenth of the rows and 3 rounds; nothing is written")
    options.add_argument("--only", default="", help="run what has this in its name; the other results stay as they are")
    options.add_argument("--rounds", type=int, default=0)
    given = options.parse_args()
    rounds, scale = given.rounds or (3 if given.quick else 5), 10 if given.quick else 1
    for name, run in _all(rounds, scale):
        if given.only in name:
            result = run()
            _print(name, result)
            if not given.quick:
                keep_result(name, result)


def _all(rounds: int, scale: int) -> Iterator[tuple[str, Run]]:
    """What needs no Spark comes first: a JVM that has just started is busy compiling itself."""
    yield "local 1,000 x 10", lambda: _local(rounds)
    yield "one batch of 25,000 strings, nanoseconds a value", lambda: choices.sketches(rounds)
    yield folds.TITLE, lambda: {"nanoseconds": folds.measure_folds(max(15, rounds))}
    for name, path, rows in _experiments(scale):
        yield name, partial(_compare, path, rows, rounds, brief=name.startswith(SERIES))
    rows = 2_000_000 // scale
    yield "exact uniqueness, seconds", lambda: choices.groupings(session(), rows, rounds)
    yield "batches, seconds", lambda: choices.byte_limit(session(), rows // 4, rounds)
    for name, path, _ in _experiments(scale):
        if name.startswith(("mixed", "uuids")):  # with 500 columns it comes to no end
            yield f"SQL by hand: {name}", partial(_by_hand, path)


def keep_result(name: str, result: dict[str, Any]) -> None:
    """Put one result beside the others, with the versions it was measured on."""
    file = RESULTS / "engine.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    found[name] = {"versions": _versions(), **result}
    RESULTS.mkdir(exist_ok=True)
    file.write_text(json.dumps(found, indent=1) + "\n")
    write_page(found)


def _experiments(scale: int) -> Iterator[tuple[str, Callable[[], Path], int]]:
    two_million = 2_000_000 // scale
    yield "mixed 2M x 40", partial(data.mixed, two_million, 40), two_million
    yield "wide 40k x 500", partial(data.mixed, 40_000 // scale, 500), 40_000 // scale
    yield "uuids 2M x 1", partial(data.uuids, two_million), two_million
    for rows in (1_000_000, 2_000_000, 4_000_000, 8_000_000):
        size = rows // scale
        yield f"linear {rows / 1e6:g}M x 10", partial(data.mixed, size, 10), size
    for columns in (10, 40, 100, 200, 400):
        yield f"columns 100k x {columns}", partial(data.mixed, 100_000 // scale, columns), 100_000 // scale
    yield "few 1k x 10", partial(data.mixed, 1_000, 10), 1_000


def _compare(path: Callable[[], Path], rows: int, rounds: int, brief: bool) -> dict[str, Any]:
    """The scan, each way and its steps (briefly: without these) in turn, so that noise meets all alike."""
    frame = session().read.parquet(str(path()))
    steps = {
        "scan": lambda: _plain_scan(frame),
        "transfer": lambda: _through(frame, lambda plan: _swallow),
        "fold": lambda: _through(frame, fold_task),
        "rows from Spark": lambda: _analyze(frame, "false"),
        "files, not folded": lambda: _read_files(frame),
        "files read by tasks": lambda: _analyze(frame, "true"),
    }
    steps = {name: step for name, step in steps.items() if not brief or name in ("scan", *WAYS)}
    # the JVM's compiler, the page cache, the Python workers
    taken = measure_in_turn(steps, rounds, warm=_count_warm_rounds(rows, len(frame.columns)))
    medians = {
        name: {unit: statistics.median(getattr(each, unit) for each in spent) for unit in ("wall", "cpu")}
        for name, spent in taken.items()
    }
    size = sum(file.stat().st_size for file in Path(frame.inputFiles()[0].removeprefix("file://")).parent.iterdir())
    return {
        "rows": rows,
        "columns": len(frame.columns),
        "parquet_mb": size / 1e6,
        "rounds": {name: [each._asdict() for each in spent] for name, spent in taken.items()},
        "medians": medians,
        "cpu_ratios": {way: _divide_rounds(taken[way], taken["scan"]) for way in WAYS},
    }


def _count_warm_rounds(rows: int, columns: int) -> int:
    """More of wide tables, whose code is long, and of small ones, of which a round is over before it is compiled."""
    return WARM + (columns > 100) + 10 * (rows < 10_000)


def _divide_rounds(ones: list[Spent], others: list[Spent]) -> dict[str, float]:
    """How many times the processor time of the other: of the medians, and the least and most of a round."""
    ratios = [one.cpu / other.cpu for one, other in zip(ones, others, strict=True)]
    medians = [statistics.median(each.cpu for each in spent) for spent in (ones, others)]
    return {"median": medians[0] / medians[1], "least": min(ratios), "most": max(ratios)}


def _analyze(frame: DataFrame, reads_files: str) -> None:
    frame.sparkSession.conf.set(SWITCH, reads_files)
    hg.analyze(frame).outcomes  # noqa: B018


def _by_hand(path: Callable[[], Path]) -> dict[str, Any]:
    """The same metrics by Spark SQL, once, because it takes minutes; beside scans of the same table."""
    frame = session().read.parquet(str(path()))
    scan = partial(_plain_scan, frame)
    scan()
    before, taken, after = seconds(scan), seconds(lambda: native_sql(frame)), seconds(scan)
    return {"sql_seconds": taken, "scan_seconds": [before, after], "sql_ratio_to_scan": 2 * taken / (before + after)}


def _plain_scan(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _through(frame: DataFrame, task: Callable[[Any], Any]) -> None:
    plan = make_plan(schema := open_spark(frame), default_metrics(schema))
    with apply_settings(frame.sparkSession, batch_settings(plan)):
        _select_inputs(SparkBatch(frame), plan).mapInArrow(task(plan), ROW).write.format("noop").mode(
            "overwrite"
        ).save()


def _read_files(frame: DataFrame) -> None:
    """Tasks read the files as for a scan, and fold nothing."""
    frame.sparkSession.conf.set(SWITCH, "true")
    plan = make_plan(schema := open_spark(frame), default_metrics(schema))
    files = plan_reading(frame, plan).files
    assert files is not None

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in (value for batch in batches for value in batch.column(0).to_pylist()):
            for _ in files.open_task(number).read(plan.columns, limit_rows(len(plan.columns))):
                yield from ()

    tasks = len(files.tasks)
    rows = frame.sparkSession.range(0, tasks, 1, tasks).mapInArrow(import_first(run), ROW)
    rows.write.format("noop").mode("overwrite").save()


def _swallow(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield from ()


def _local(rounds: int) -> dict[str, Any]:
    table = data.mixed_chunk(np.random.default_rng(1), 1_000, 10)
    hg.analyze(table).outcomes  # noqa: B018
    taken = [seconds(lambda: hg.analyze(table).outcomes) for _ in range(max(31, rounds))]
    return {"rows": 1_000, "columns": 10, "milliseconds": statistics.median(taken) * 1e3, "runs": len(taken)}


def _versions() -> dict[str, str]:
    return versions("pyspark", "pyarrow", "numpy", "datasketches", "msgspec")


def _print(name: str, result: dict[str, Any]) -> None:
    if "cpu_ratios" not in result:
        print(f"{name}: {json.dumps(result)}", flush=True)
        return
    print(f"{name}:", flush=True)
    for step, spent in result["medians"].items():
        ratio = f" = {result['cpu_ratios'][step]['median']:.2f} x scan" if step in WAYS else ""
        print(f"  {step}: {spent['cpu']:.2f} CPU s{ratio}, {spent['wall']:.2f} s", flush=True)


if __name__ == "__main__":
    main()
