"""However many tasks a scan has, the driver gets one row for each state; states that grow large travel in pieces."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession

import headgate as hg
from headgate.engine import scan, spark_tasks
from headgate.engine import spark as engine
from headgate.engine.analysis import Analysis
from headgate.engine.plan import Plan, make_plan
from headgate.engine.spark_tasks import PIECES, Row, fold_task, merge_task, read_rows
from headgate.values.outcome import Failed
from headgate.values.schema import Kind, Schema

ROWS = 20_000


class Cost(NamedTuple):
    """What a scan costs the driver."""

    states: int
    rows: int
    size: int  # bytes of states collected
    peak: int  # bytes of Python memory at the worst moment


def cost(spark: SparkSession, tasks: int, monkeypatch: pytest.MonkeyPatch) -> Cost:
    """The driver's cost of one scan of the same rows in so many tasks."""
    received: list[Row] = []
    outcome = engine._outcome

    def noted(plan: Plan, rows: Sequence[Row]) -> Any:
        received.extend(rows)
        return outcome(plan, rows)

    frame = spark.range(0, ROWS, 1, tasks).selectExpr("id", "id % 13 as few", "concat('v', id % 997) as text")
    assert frame.rdd.getNumPartitions() == tasks
    with monkeypatch.context() as patched:
        patched.setattr(engine, "_outcome", noted)
        gc.collect()
        tracemalloc.start()
        analysis = hg.analyze(frame)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert analysis.value("size()") == ROWS
    assert Counter((row.slot, row.piece) for row in received).most_common(1)[0][1] == 1
    return Cost(len(analysis.states), len(received), sum(len(row.state) for row in received), peak)


# a task of mapInArrow costs Spark about 35 ms before any of our code runs, so 2,000 of them take over a minute
@pytest.mark.parametrize(("few", "many"), [(50, 200), pytest.param(200, 2_000, marks=pytest.mark.slow)])
def test_the_driver_gets_one_row_for_each_state_and_no_more_memory_for_more_tasks(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], few: int, many: int
) -> None:
    for _ in range(3):  # what is imported, compiled and cached once is not a cost of tasks
        cost(spark, 2, monkeypatch)
    less, more = cost(spark, few, monkeypatch), cost(spark, many, monkeypatch)
    with capsys.disabled():
        print(f"\n{few:,} tasks: {less}\n{many:,} tasks: {more}")
    assert less.rows == less.states == more.rows == more.states
    assert more.size == pytest.approx(less.size, rel=0.2)
    assert more.peak == pytest.approx(less.peak, rel=0.2)


# --- states that grow large, folded and merged in this process as they are in a worker


def plan_of(*metrics: str) -> Plan:
    return make_plan(Schema.of([("n", Kind.INTEGER, "bigint"), ("s", Kind.STRING, "string")]), metrics)


def batches(start: int, count: int, size: int = 500) -> Iterator[pa.RecordBatch]:
    """Every number twice, next to a text that repeats."""
    numbers = np.repeat(np.arange(start, start + count // 2), 2)
    for low in range(0, count, size):
        part = numbers[low : low + size]
        columns = [pa.array(part), pa.array([f"t{number % 90}" for number in part.tolist()])]
        yield pa.RecordBatch.from_arrays(columns, names=["c0", "c1"])


def run(plan: Plan, *tasks: Iterator[pa.RecordBatch]) -> Analysis:
    """Tasks that fold, one that merges, and the driver."""
    folded = [batch for task in tasks for batch in fold_task(plan)(task)]
    merged = list(read_rows(merge_task(plan)(folded)))
    found = engine._outcome(plan, merged)
    return Analysis(plan.schema, plan.metrics, found.states[()], found.failed)


GROUPINGS = ("uniqueness(n)", "distinctness(n, s)", "entropy(s)", "mutual_information(n, s)")


def test_a_state_that_grows_heavy_is_sent_on_early_and_stays_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of("uniqueness(n)")
    light = list(read_rows(fold_task(plan)(batches(0, 10_000))))
    monkeypatch.setattr(scan, "HEAVY", 1_000)
    monkeypatch.setattr(spark_tasks, "limit_rows", lambda columns: 500)  # no batches are joined
    heavy = list(read_rows(fold_task(plan)(batches(0, 10_000))))
    assert len(light) == PIECES
    assert len(heavy) > 2 * PIECES
    assert run(plan, batches(0, 10_000), batches(4_000, 10_000)).value("uniqueness(n)") == 0.0
    once = run(plan, (batch.slice(0, batch.num_rows - 1) for batch in batches(0, 10_000)))
    assert once.value("uniqueness(n)") == 20 / 9_980


def test_a_heavy_state_is_sent_on_while_the_task_still_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "HEAVY", 1_000)
    monkeypatch.setattr(spark_tasks, "limit_rows", lambda columns: 500)
    read = 0

    def counted() -> Iterator[pa.RecordBatch]:
        nonlocal read
        for batch in batches(0, 10_000):
            read += 1
            yield batch

    next(fold_task(plan_of("uniqueness(n)"))(counted()))
    assert read < 20


def test_groups_beyond_what_is_kept_are_shrunk_but_still_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(*GROUPINGS)
    whole = run(plan, batches(0, 8_000), batches(3_000, 8_000))
    monkeypatch.setattr(spark_tasks, "KEPT", 640)
    shrunk = run(plan, batches(0, 8_000), batches(3_000, 8_000))
    assert {key: whole.value(key) for key in whole} == {key: pytest.approx(shrunk.value(key)) for key in whole}
    assert len(shrunk.to_bytes()) < len(whole.to_bytes()) / 10
    mergeable = {str(key): state.mergeable for key, state in shrunk.states.items()}
    assert mergeable == {
        "groups(n)": False,
        "groups(n, s)": False,
        "groups(s)": True,
        "mutual_information(n, s)": False,
    }


def test_two_analyses_with_shrunk_groups_merge_to_a_failure_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(*GROUPINGS, "mean(n)")
    monkeypatch.setattr(spark_tasks, "KEPT", 640)
    both = run(plan, batches(0, 8_000)) + run(plan, batches(3_000, 8_000))
    for key in ("uniqueness(n)", "distinctness(n, s)", "mutual_information(n, s)"):
        outcome = both[key]
        assert isinstance(outcome, Failed)
        assert "too many groups" in outcome.why
    together = run(plan, batches(0, 8_000), batches(3_000, 8_000))
    assert both.value("mean(n)") == pytest.approx(together.value("mean(n)"))
    assert both.value("entropy(s)") == pytest.approx(together.value("entropy(s)"))


MERGES = """
import pickle, sys
from pathlib import Path
task, batches = pickle.loads(Path(sys.argv[1]).read_bytes())
print(sum(batch.num_rows for batch in task(batches)))
"""


def test_a_worker_that_has_folded_nothing_can_merge(tmp_path: Path) -> None:
    plan = plan_of(*GROUPINGS, "mean(n)", "approx_count_distinct(s)")
    folded = list(fold_task(plan)(batches(0, 1_000)))
    sent = tmp_path / "task"
    sent.write_bytes(cloudpickle.dumps((merge_task(plan), folded)))  # as Spark sends it
    done = subprocess.run([sys.executable, "-c", MERGES, str(sent)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) == len(list(read_rows(folded)))


def test_a_merge_that_raises_fails_only_its_own_state() -> None:
    plan = plan_of("uniqueness(n)", "mean(n)")
    rows = list(read_rows(fold_task(plan)(batches(0, 1_000))))
    bent = [Row(row.part, row.slot, row.piece, row.tag, b"\xc1", row.error) if row.slot == 1 else row for row in rows]
    merged = list(read_rows(merge_task(plan)(spark_tasks._pack_batches(bent))))
    found = engine._outcome(plan, merged)
    analysis = Analysis(plan.schema, plan.metrics, found.states[()], found.failed)
    assert analysis.value("uniqueness(n)") == 0.0
    assert "merging moments(n) raised CorruptBytes" in str(analysis["mean(n)"])
