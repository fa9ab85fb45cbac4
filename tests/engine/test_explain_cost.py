"""Estimates of what a scan costs: beside what is measured, and without reading a row."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import headgate as hg
from headgate.engine.explain_cost import ASSUMED_ROWS, TEXT_BYTES
from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import ColumnMetric
from headgate.metrics.states.counts import Counts
from headgate.values.errors import MisuseError
from headgate.values.state import State

ROWS = 200_000
TRIES = 4
SMALL = pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"], "price": [1.0, 2.0, None]})


def make_table() -> pa.Table:
    """Eight columns of different kinds."""
    rng = np.random.default_rng(11)
    whole = rng.integers(0, 10**9, ROWS)
    words = pa.array([f"category {at:04d} of the shop" for at in range(300)])
    picks = pa.array(rng.integers(0, 300, ROWS).astype(np.int32))
    return pa.table(
        {
            "order": pa.array(
                [f"INV-{2000 + number % 27}-{number:09d}-{number % 97:02d}" for number in whole.tolist()]
            ),
            "category": pa.DictionaryArray.from_arrays(picks, words),
            "units": pa.array(rng.integers(0, 100, ROWS)),
            "key": pa.array(whole),
            "price": pa.array(np.round(rng.lognormal(3.0, 1.0, ROWS), 2), mask=rng.random(ROWS) < 0.05),
            "paid": pa.array(rng.random(ROWS) < 0.7),
            "day": pa.array(rng.integers(18_000, 20_000, ROWS).astype("i4")).view(pa.date32()),
            "at": pa.array(1_700_000_000_000_000 + rng.integers(0, 10**13, ROWS)).view(pa.timestamp("us")),
        }
    )


def measure_cpu(table: pa.Table) -> float:
    """The least CPU seconds of a scan, of some tries."""
    spent = []
    for _ in range(TRIES):
        begin = time.process_time()
        hg.analyze(table)
        spent.append(time.process_time() - begin)
    return min(spent)


def test_the_estimate_is_within_a_factor_of_3_and_knows_the_dearest_column() -> None:
    table = make_table()
    estimate = hg.explain_cost(table)
    assert 1 / 3 < estimate.seconds / measure_cpu(table) < 3
    spent = {name: measure_cpu(table.select([name])) for name in table.column_names}
    assert next(iter(estimate.by_column())) == max(spent, key=lambda name: spent[name]) == "order"


def test_no_row_is_read() -> None:
    def refuse() -> Iterator[pa.RecordBatch]:
        raise AssertionError("a row was read")
        yield

    estimate = hg.explain_cost(pa.RecordBatchReader.from_batches(SMALL.schema, refuse()))
    assert (estimate.rows, estimate.knows_rows) == (ASSUMED_ROWS, False)
    assert "what that costs was not measured" in str(estimate)


@pytest.mark.parametrize(
    ("data", "reading"),
    [
        (SMALL, "the rows are in memory"),
        (SMALL.to_batches()[0], "the rows are in memory"),
        (SMALL.to_pandas(), "the pandas frame is converted"),
        (pl.from_arrow(SMALL), "the Polars frame is converted"),
    ],
)
def test_data_in_memory_know_their_rows(data: Any, reading: str) -> None:
    estimate = hg.explain_cost(data)
    assert (estimate.rows, estimate.knows_rows) == (3, True)
    assert estimate.reading.startswith(reading)
    assert set(estimate.by_column()) == set(SMALL.column_names)


def test_footers_of_parquet_files_know_the_rows(tmp_path: Path) -> None:
    pq.write_table(SMALL, tmp_path / "a.parquet")
    estimate = hg.explain_cost(ds.dataset(tmp_path))
    assert (estimate.rows, estimate.knows_rows) == (3, True)
    assert estimate.reading.startswith("this process reads Parquet files: ")


def test_nobody_counts_the_rows_of_csv_files_or_of_a_lazy_frame(tmp_path: Path) -> None:
    SMALL.to_pandas().to_csv(tmp_path / "a.csv", index=False)
    for data in (ds.dataset(tmp_path, format="csv"), pl.LazyFrame(SMALL.to_pydict()).filter(pl.col("id") > 1)):
        estimate = hg.explain_cost(data)
        assert (estimate.rows, estimate.knows_rows) == (ASSUMED_ROWS, False)
        assert "1,000,000 rows are assumed" in str(estimate)


def test_the_caller_may_say_the_rows() -> None:
    one, ten = hg.explain_cost(SMALL, rows=10**6), hg.explain_cost(SMALL, rows=10**7)
    assert 8 < ten.seconds / one.seconds < 10.5
    assert hg.explain_cost(SMALL.slice(0, 0)).rows == 0


def test_only_the_metrics_that_are_asked_for_cost_something() -> None:
    estimate = hg.explain_cost(SMALL, ["mean(price)", "stddev(price)", "mean(name)"])
    assert {item.work for item in estimate.items} == {"moments", "(shared)"}
    assert list(estimate.failed) == ["mean(name)"]
    assert hg.explain_cost(SMALL, "mean(price)").seconds == estimate.seconds


def test_longer_texts_cost_more_and_few_different_ones_less() -> None:
    short, long = (hg.explain_cost(SMALL, rows=10**6, text_bytes=length) for length in (TEXT_BYTES, 200))
    assert short.seconds < long.seconds
    assert short.seconds_if_few is not None
    assert short.seconds_if_few < short.seconds
    assert hg.explain_cost(SMALL.select(["id"])).seconds_if_few is None
    assert "Texts are taken to have 200 bytes" in str(long)


def test_categories_of_a_frame_are_texts_of_which_few_differ() -> None:
    frame = pd.DataFrame({"c": pd.Categorical(["a", "b"] * 10), "t": ["a", "b"] * 10})
    found = hg.explain_cost(frame, rows=10**6).by_column()
    assert found["c"] < found["t"] / 2


class Own(ColumnMetric[Counts], frozen=True):
    """A metric of somebody else's, whose cost nobody measured."""

    name: ClassVar = "own"
    folded: ClassVar = "own_state"
    state: ClassVar[type[State]] = Counts

    def fold(self, batch: ColumnBatch) -> Counts:
        raise AssertionError("it was folded")


def test_a_state_that_nobody_measured_costs_something_and_is_marked() -> None:
    estimate = hg.explain_cost(SMALL, [Own("price"), hg.Mean("price")], rows=10**6)
    own = next(item for item in estimate.items if item.metrics == ("own",))
    assert own.seconds > 0
    assert "own_state ?" in str(estimate)
    assert "? marks a state whose cost was not measured" in str(estimate)
    assert "?" not in str(hg.explain_cost(SMALL, [hg.Mean("price")]))


def test_the_page_says_that_it_is_an_estimate_and_where_it_comes_from() -> None:
    text = str(hg.explain_cost(SMALL, rows=10**6))
    assert text.startswith("About ")
    assert re.search(r"This is an estimate from constants that were measured on \d+ cores of .*pyarrow", text)
    assert re.search(r"Leave out the column name to save the most: about 0\.\d+ CPU seconds, \d+%\.", text)


def test_a_page_of_many_columns_is_cut() -> None:
    wide = pa.table({f"c{at}": [1.0] for at in range(50)})
    estimate = hg.explain_cost(wide)
    assert "more; estimate.table().text() has them all" in str(estimate)
    assert len(estimate.table().rows) == len(estimate.items) > 200


@pytest.mark.parametrize(("data", "rows"), [("a text", None), (SMALL, -1)])
def test_misuse_is_refused(data: Any, rows: int | None) -> None:
    with pytest.raises(MisuseError):
        hg.explain_cost(data, rows=rows)
