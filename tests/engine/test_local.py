"""The engine without a JVM gives the same whatever holds the data, and however it is chunked and encoded."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from headgate.engine.analysis import Analysis
from headgate.engine.analyze import analyze
from headgate.engine.local import open_local
from headgate.values.errors import EngineError, MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Failed, Measured, Outcome
from tests.strategies import BYTE_VIEWS, HOSTILE_NAMES, TEXT_VIEWS, tables

EXTRA = [
    "skewness(f)",
    "histogram(i)",
    "correlation(f, i)",
    "mutual_information(s, b)",
    "uniqueness(s, d)",
    "data_type(s)",
    "index_of_peculiarity(s)",
    'pattern_match(s, pattern="[0-9]")',
    "compliance(predicate=\"i > 2 and s like 'a%'\")",
    "mean(f) where \"s <> 'abc'\"",
    "value_distribution(s) where \"d > '2026-01-01'\"",
    'median(d) where "i in (1, 2, 3)"',
]


def table(rows: int = 150) -> pa.Table:
    """Small enough for its sketches to be exact; no NaN, which to pandas is null."""
    chance = np.random.default_rng(3)

    def some(values: list[Any], kind: pa.DataType) -> pa.Array:
        return pa.array(
            [None if chance.random() < 0.2 else values[chance.integers(len(values))] for _ in range(rows)], kind
        )

    return pa.table(
        {
            "i": some([*range(-3, 9)], pa.int64()),
            "f": some([0.1, -2.5, 1e9, 0.0, 3.25], pa.float64()),
            "s": some(["", "abc", "a1", "Zoë", "😀-2"], pa.string()),
            "b": some([True, False], pa.bool_()),
            "d": some([date(2026, 11, 15), date(1969, 7, 20)], pa.date32()),
            "t": some([datetime(2026, 11, 15, 3, 4, 5, 678), datetime(1999, 1, 1)], pa.timestamp("us")),
            "z": some([datetime(2026, 11, 15, 3, tzinfo=UTC)], pa.timestamp("us", "UTC")),
            "c": some([Decimal("1.25"), Decimal("-3.50")], pa.decimal128(9, 2)),
            "x": some([b"", b"\xff\x00"], pa.binary()),
        }
    )


def asked(data: Any) -> list[Any]:
    return [*analyze(data), *EXTRA]


def assert_agree(found: Analysis, expected: Analysis) -> None:
    assert list(found) == list(expected)
    for key, outcome in expected.items():
        assert_equal(key, found[key], outcome)


def assert_equal(key: MetricKey, found: Outcome, expected: Outcome) -> None:
    match found, expected:
        case Measured(float(value)), Measured(float(wanted)):
            assert value == pytest.approx(wanted, rel=1e-9, abs=1e-12), str(key)
        case Measured(Distribution() as spread), Measured(Distribution() as wanted):
            assert (spread.counts, spread.total) == (wanted.counts, wanted.total), str(key)
        case _:
            assert found == expected, str(key)


@pytest.fixture(scope="module")
def whole() -> Analysis:
    return analyze(table(), asked(table()))


def in_files(data: pa.Table, folder: Path) -> ds.Dataset:
    for at in range(0, data.num_rows, 40):
        pq.write_table(data.slice(at, 40), folder / f"{at}.parquet", row_group_size=11)
    return ds.dataset(folder)


HOLDERS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "table": lambda data, folder: data,
    "record batch": lambda data, folder: data.combine_chunks().to_batches()[0],
    "dataset of files": in_files,
    "dataset in memory": lambda data, folder: ds.dataset(data),
    "reader": lambda data, folder: data.to_reader(),
    "reader of small batches": lambda data, folder: data.to_reader(max_chunksize=7),
    "pandas": lambda data, folder: data.to_pandas(),
    "pandas with Arrow types": lambda data, folder: data.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda data, folder: pl.from_arrow(data),
    "lazy polars": lambda data, folder: pl.from_arrow(data).lazy(),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_whatever_holds_the_data_gives_the_same(holder: str, whole: Analysis, tmp_path: Path) -> None:
    data = HOLDERS[holder](table(), tmp_path)
    if holder == "pandas":
        data["i"] = data["i"].astype("Int64")
        data["b"] = data["b"].astype("boolean")
    assert_agree(analyze(data, list(whole)), whole)


@pytest.mark.parametrize("holder", HOLDERS)
def test_without_metrics_every_column_gets_its_defaults_whatever_holds_it(holder: str, tmp_path: Path) -> None:
    found = analyze(HOLDERS[holder](table().select(["f", "s", "d"]), tmp_path))
    assert_agree(found, analyze(table().select(["f", "s", "d"])))


@pytest.mark.parametrize("holder", HOLDERS)
def test_no_rows_are_no_error_whatever_holds_them(holder: str, tmp_path: Path) -> None:
    if holder in {"record batch", "dataset of files"}:
        data: Any = pa.RecordBatch.from_pylist([], table().schema)
    else:
        data = HOLDERS[holder](table().slice(0, 0), tmp_path)
    found = analyze(data, ["size()", "completeness(f)"])
    assert found.value("size()") == 0.0
    assert not isinstance(found["completeness(f)"], (Measured, Failed))


# --- chunks and encodings


def recoded(data: pa.Table, encode: Callable[[pa.Array], Any]) -> pa.Table:
    return pa.table({name: encode(data[name].combine_chunks()) for name in data.column_names})


def sliced(array: pa.Array) -> pa.Array:
    return pa.concat_arrays([array.slice(3, 5), array, array.slice(0, 9)]).slice(5, len(array))


def scattered(array: pa.Array) -> pa.ChunkedArray:
    sizes = np.random.default_rng(len(array)).integers(0, 9, 60)
    cuts = [0, *np.minimum(np.cumsum(sizes), len(array)).tolist(), len(array)]
    return pa.chunked_array([array.slice(low, high - low) for low, high in pairwise(cuts)], array.type)


def with_gaps(array: pa.Array) -> pa.Array:
    """A dictionary in which a value is null, another repeats and a third is never used."""
    plain = array.dictionary_encode()
    words = pa.concat_arrays([plain.dictionary, plain.dictionary.slice(0, 1), pa.nulls(1, array.type)])
    absent = len(words) - 1
    indices = pc.fill_null(plain.indices, absent)
    return pa.DictionaryArray.from_arrays(indices, words)


def wide(array: pa.Array) -> pa.Array:
    kinds = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary(), pa.int64(): pa.int64()}
    return array.cast(kinds.get(array.type, array.type))


def views(array: pa.Array) -> pa.Array:
    views = {**dict.fromkeys([pa.string()], *TEXT_VIEWS), **dict.fromkeys([pa.binary()], *BYTE_VIEWS)}
    return array.cast(views.get(array.type) or array.type)


ENCODINGS: dict[str, Callable[[pa.Array], Any]] = {
    "many small chunks": scattered,
    "a slice with an offset": sliced,
    "dictionaries": lambda array: array.dictionary_encode(),
    "chunks of dictionaries": lambda array: pa.chunked_array(
        [part.dictionary_encode() for part in scattered(array).chunks]
    ),
    "dictionaries with gaps": with_gaps,
    "runs": pc.run_end_encode,
    "a slice of runs": lambda array: pc.run_end_encode(pa.concat_arrays([array.slice(0, 9), array])).slice(9),
    "large offsets": wide,
    "views": views,
    "chunks of views": lambda array: pa.chunked_array([views(part) for part in scattered(array).chunks]),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_however_the_data_are_chunked_and_encoded_they_give_the_same(encoding: str, whole: Analysis) -> None:
    changed = recoded(table(), ENCODINGS[encoding])
    if encoding == "a slice with an offset":
        again = pa.table({name: sliced(table()[name].combine_chunks()) for name in table().column_names})
        whole = analyze(pa.Table.from_pylist(again.to_pylist(), again.schema), list(whole))
    assert_agree(analyze(changed, list(whole)), whole)


@pytest.mark.parametrize(
    ("narrow", "kind"),
    [("i", pa.int8()), ("i", pa.int32()), ("d", pa.date64()), ("t", pa.timestamp("ns")), ("c", pa.decimal256(40, 2))],
    ids=str,
)
def test_a_column_of_another_width_measures_the_same(narrow: str, kind: pa.DataType) -> None:
    plain = table().select([narrow])
    assert_agree(analyze(plain.set_column(0, narrow, plain[narrow].cast(kind))), analyze(plain))


def test_a_fixed_size_binary_column_measures_as_a_binary_one() -> None:
    values = [b"abc", None, b"\xff\x00\x01", b"abc"]
    fixed, free = pa.array(values, pa.binary(3)), pa.array(values, pa.binary())
    assert_agree(analyze(pa.table({"x": sliced_of(fixed)})), analyze(pa.table({"x": sliced_of(free)})))


def sliced_of(array: pa.Array) -> pa.Array:
    return pa.concat_arrays([array, array]).slice(1, 6)


@settings(max_examples=40)
@given(tables())
def test_any_table_is_measured_without_a_failure_in_whole_and_in_small_batches(data: pa.Table) -> None:
    whole = analyze(data)
    assert {str(key): outcome for key, outcome in whole.items() if isinstance(outcome, Failed)} == {}
    parts = analyze(data.to_reader(max_chunksize=5))
    for key, outcome in whole.items():
        if key.name in {"size", "completeness", "value_distribution", "approx_count_distinct", "min", "max", "str_len"}:
            assert_equal(key, parts[key], outcome)


# --- names


def test_columns_of_any_name_are_measured_by_whatever_holds_them(tmp_path: Path) -> None:
    names = [name for name in HOSTILE_NAMES if len(name) < 100]
    data = pa.table([pa.array([at, at + 2]) for at in range(len(names))], names=names)
    wanted = [MetricKey("mean", (name,)) for name in names]
    held = [HOLDERS[holder](data, tmp_path) for holder in ("table", "dataset of files", "reader", "pandas")]
    for each in (*held, pl.DataFrame(data.to_pydict())):
        found = analyze(each, wanted)
        assert [found.value(key) for key in wanted] == [at + 1.0 for at in range(len(names))], type(each)


def test_a_column_of_a_very_long_name_is_measured() -> None:
    name = "a" * 5_000
    assert analyze(pa.table({name: [2]}), [MetricKey("mean", (name,))]).value(MetricKey("mean", (name,))) == 2.0


def test_columns_of_one_name_are_told_apart() -> None:
    twice = pa.table([pa.array([1]), pa.array([3])], names=["a", "a"])
    frame = pd.DataFrame([[1, 3]], columns=["a", "a"])
    for data in (twice, twice.to_reader(), frame):
        found = analyze(data, ["mean(a)", 'mean("a#2")'])
        assert [outcome.value for outcome in found.values() if isinstance(outcome, Measured)] == [1.0, 3.0]


def test_a_dataset_with_two_columns_of_one_name_says_what_to_do() -> None:
    twice = pa.table([pa.array([1]), pa.array([3])], names=["a", "a"])
    with pytest.raises(EngineError, match=r"to_table\(\)"):
        analyze(ds.InMemoryDataset(twice))


# --- rows


def test_rows_without_columns_are_counted() -> None:
    assert analyze(table().select([]), ["size()"]).value("size()") == 150.0
    assert analyze(pd.DataFrame(index=range(4)), ["size()"]).value("size()") == 4.0


def test_a_table_longer_than_one_batch_is_measured_whole() -> None:
    rows = 150_000
    data = pa.table({"x": np.arange(rows), "s": pa.array(np.arange(rows) % 300).cast(pa.string())})
    found = analyze(
        data, ["size()", "sum(x)", "max(x)", "count_distinct(s)", "count_distinct(x)", 'sum(x) where "x < 10"']
    )
    expected = [rows, rows * (rows - 1) / 2, rows - 1, 300, rows, 45]
    assert [outcome.value for outcome in found.values() if isinstance(outcome, Measured)] == expected


def test_a_wide_table_is_read_in_shorter_batches() -> None:
    seen: list[int] = []
    local = open_local(pa.table({f"c{at}": np.zeros(300, np.int8) for at in range(3)}))
    assert local is not None
    for arrays, count in local.read([0, 2], 128):
        assert [len(array) for array in arrays] == [count, count]
        seen.append(count)
    assert seen == [128, 128, 44]


@pytest.mark.parametrize(
    "data", [[1, 2], {"a": [1]}, "a.csv", None, 5, pd.Series([1]), pl.Series([1]), np.ones(3)], ids=repr
)
def test_what_is_no_batch_is_refused_with_what_would_be(data: Any) -> None:
    with pytest.raises(MisuseError, match=r"is not a batch\. Pass a Spark DataFrame"):
        analyze(data)


def test_one_metric_need_not_stand_in_a_list() -> None:
    for one in ("mean(i)", MetricKey("mean", ("i",))):
        assert len(analyze(table(), one)) == 1
