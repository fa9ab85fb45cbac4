"""Small batches are folded together, and how many rows Spark is asked to put into one."""

from __future__ import annotations

import pyarrow as pa
import pytest

from headgate.engine import spark_tasks
from headgate.engine.plan import make_plan
from headgate.engine.spark import batch_settings
from headgate.engine.spark_tasks import fold_task, join_batches, read_rows
from headgate.metrics.base.registry import default_metrics
from headgate.values.codec import unpack_state
from headgate.values.schema import Column, Kind, Schema


def make_batches(*sizes: int) -> list[pa.RecordBatch]:
    """Batches of two columns, with the numbers from 0 on over all of them."""
    starts = [sum(sizes[:at]) for at in range(len(sizes))]
    numbers = [list(range(start, start + size)) for start, size in zip(starts, sizes, strict=True)]
    return [
        pa.RecordBatch.from_arrays(
            [pa.array(each, pa.int64()), pa.array([f"t{n}" if n % 3 else None for n in each], pa.string())], ["n", "t"]
        )
        for each in numbers
    ]


@pytest.mark.parametrize(
    ("sizes", "joined"),
    [((3, 4, 5), [7, 5]), ((20, 1), [20, 1]), ((0, 0), []), ((5, 0, 5, 0), [10]), ((11,), [11])],
)
def test_batches_are_joined_up_to_a_number_of_rows(sizes: tuple[int, ...], joined: list[int]) -> None:
    batches = make_batches(*sizes)
    found = list(join_batches(batches, 10))
    assert [len(columns[0]) for columns in found] == joined
    for at in range(2):
        values = [value for columns in found for value in columns[at].to_pylist()]
        assert values == [value for batch in batches for value in batch.column(at).to_pylist()]


def test_batches_are_joined_up_to_a_number_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = make_batches(10, 10, 10)
    monkeypatch.setattr(spark_tasks, "_BYTES_TOGETHER", 2 * batches[0].nbytes + 40)
    assert [len(columns[0]) for columns in join_batches(batches, 1_000)] == [20, 10]


def test_a_task_folds_joined_batches_into_the_states_of_all_rows() -> None:
    plan = make_plan(Schema((Column("n", Kind.INTEGER, "bigint"),)), ["sum(n)"])
    batches = [batch.select(["n"]) for batch in make_batches(3, 0, 4, 100_000)]
    rows = list(read_rows(fold_task(plan)(batches)))
    assert [row.error for row in rows] == [None] * len(plan.folds)
    states = {plan.folds[row.slot].metric.folded: unpack_state(row.state, row.tag) for row in rows}
    assert states["moments"].count == 100_007


@pytest.mark.parametrize(
    ("columns", "kind", "rows", "is_limited"),
    [
        (4, Kind.STRING, 25_000, False),
        (4, Kind.FLOAT, 64_000, False),
        (40, Kind.STRING, 25_000, False),
        (500, Kind.STRING, 2_092, False),
        (500, Kind.FLOAT, 2_092, False),
        (5_000, Kind.STRING, 500, True),
        (5_000, Kind.FLOAT, 500, False),
    ],
)
def test_batches_of_wide_tables_have_fewer_rows(columns: int, kind: Kind, rows: int, is_limited: bool) -> None:
    schema = Schema(tuple(Column(f"c{at}", kind, "string") for at in range(columns)))
    settings = batch_settings(make_plan(schema, default_metrics(schema)))
    assert settings["spark.sql.execution.arrow.maxRecordsPerBatch"] == str(rows)
    limit = int(settings["spark.sql.execution.arrow.maxBytesPerBatch"])
    assert (limit < 2**31 - 1) is is_limited
