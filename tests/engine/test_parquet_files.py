"""Parquet files as tasks read them: every row once, columns as Spark has them, or a refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.engine.common_predicates import compile_common
from headgate.engine.nested import TypeTree
from headgate.engine.parquet_files import FileColumn, FilePart, ParquetFiles, make_tasks
from headgate.engine.parquet_types import UnlikeSpark
from headgate.values.schema import Column, Kind

LONG, TEXT = TypeTree(Kind.INTEGER, "bigint"), TypeTree(Kind.STRING, "string")


def read_rows(files: ParquetFiles, *positions: int, size: int = 1_000) -> list[tuple[Any, ...]]:
    """The values of all rows, with a check of the counts."""
    found = []
    for number in range(len(files.tasks)):
        batch = files.open_task(number)
        for arrays, count in batch.read(positions or range(len(files.names)), size):
            assert {len(array) for array in arrays} <= {count}
            found += list(zip(*(array.to_pylist() for array in arrays), strict=True)) if arrays else [()] * count
    return found


def open_files(paths: list[Path], columns: list[FileColumn], **others: Any) -> ParquetFiles:
    given = [(FilePart(str(path), 0, None), path.stat().st_size) for path in paths]
    tasks = make_tasks(given, most=1 << 20, opening=1, parallel=1)
    return ParquetFiles([column.name for column in columns], columns, range(len(columns)), tasks, **others)


@given(
    sizes=st.lists(st.integers(0, 5_000), max_size=8),
    most=st.integers(1, 3_000),
    opening=st.integers(0, 500),
    parallel=st.integers(1, 8),
)
def test_tasks_cover_every_byte_of_every_file_once(sizes: list[int], most: int, opening: int, parallel: int) -> None:
    files = [(FilePart(f"file {at}", 0, None), size) for at, size in enumerate(sizes)]
    tasks = make_tasks(files, most, opening, parallel)
    assert all(tasks)
    for at, size in enumerate(sizes):
        parts = sorted(
            (part for task in tasks for part in task if part.path == f"file {at}"), key=lambda part: part.start
        )
        assert parts[0].start == 0
        assert [part.end for part in parts[:-1]] == [part.start for part in parts[1:]]
        assert parts[-1].end is None
        assert all(part.start < max(1, size) for part in parts)


@pytest.mark.parametrize("size", [1, 7, 100, 5_000])
@pytest.mark.parametrize("most", [200, 3_000, 1 << 20])
def test_row_groups_are_read_once(tmp_path: Path, size: int, most: int) -> None:
    file = tmp_path / "one.parquet"
    pq.write_table(pa.table({"id": np.arange(1_000)}), file, row_group_size=60)
    tasks = make_tasks([(FilePart(str(file), 0, None), file.stat().st_size)], most, 1, 4)
    files = ParquetFiles(["id"], [FileColumn("id", LONG)], [0], tasks)
    assert sorted(read_rows(files, size=size)) == [(at,) for at in range(1_000)]
    assert len(read_rows(files, 0, size=size)) == 1_000


def test_rows_are_counted_without_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": np.arange(1_000)}), tmp_path / "one.parquet", row_group_size=60)
    files = open_files([tmp_path / "one.parquet"], [FileColumn("id", LONG)])
    counts = [count for _, count in files.open_task(0).read([], 400)]
    assert sum(counts) == 1_000
    assert max(counts) <= 400


def test_columns_are_found_by_name_whatever_their_order(tmp_path: Path) -> None:
    pq.write_table(pa.table({"name": ["a"], "ID": [1]}), tmp_path / "one.parquet")
    pq.write_table(pa.table({"id": [2], "more": [1.5]}), tmp_path / "two.parquet")
    files = open_files(sorted(tmp_path.iterdir()), [FileColumn("id", LONG), FileColumn("name", TEXT)])
    assert sorted(read_rows(files)) == [(1, "a"), (2, None)]
    files.ignores_case = False
    assert sorted(read_rows(files), key=str) == [(2, None), (None, "a")]


def test_repeated_texts_come_with_their_dictionary(tmp_path: Path) -> None:
    table = pa.table({"few": ["a", "b", None] * 1_000, "many": [f"text {at}" for at in range(3_000)]})
    pq.write_table(table, tmp_path / "one.parquet")
    files = open_files([tmp_path / "one.parquet"], [FileColumn("few", TEXT), FileColumn("many", TEXT)])
    (arrays, _), *_ = files.open_task(0).read([0, 1], 5_000)
    assert pa.types.is_dictionary(arrays[0].type)
    assert pa.types.is_string(arrays[1].type)
    assert read_rows(files) == list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def test_values_of_folders_and_conditions(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2, 3, None]}), tmp_path / "one.parquet")
    columns = [FileColumn("id", LONG), FileColumn("day", TEXT, 0), FileColumn("part", LONG, 1)]
    known = {"id": Column("id", Kind.INTEGER, "bigint"), "day": Column("day", Kind.STRING, "string")}
    condition = compile_common("id > 1 AND day = 'mon'", known)
    for day, expected in (("mon", [("mon", 2), ("mon", 3)]), ("tue", []), (None, [])):
        tasks = [[FilePart(str(tmp_path / "one.parquet"), 0, None, (day, 7))]]
        files = ParquetFiles(["day", "id"], columns, [1, 0], tasks, condition=condition)
        assert read_rows(files) == expected
        assert read_rows(files, 0) == [(day,)] * len(expected)


NESTED = TypeTree(Kind.OTHER, "struct<x:bigint>", (("x", LONG),))


@pytest.mark.parametrize(
    ("stored", "tree", "refused"),
    [
        (pa.array([1], pa.int32()), LONG, True),
        (pa.array([1], pa.int64()), LONG, False),
        (pa.array([1], pa.uint64()), LONG, True),
        (pa.array([1], pa.duration("s")), LONG, True),
        (pa.array([b"a"]), TEXT, True),
        (pa.array(["a"]), TypeTree(Kind.BINARY, "binary"), True),
        (pa.array([1], pa.timestamp("us")), TypeTree(Kind.TIMESTAMP, "timestamp"), True),
        (pa.array([1], pa.timestamp("us", "UTC")), TypeTree(Kind.TIMESTAMP, "timestamp"), False),
        (pa.array([1], pa.timestamp("us")), TypeTree(Kind.TIMESTAMP, "timestamp_ntz"), False),
        (pa.array([1], pa.timestamp("ns", "UTC")), TypeTree(Kind.TIMESTAMP, "timestamp"), True),
        (pa.array([1], pa.int8()), TypeTree(Kind.INTEGER, "tinyint"), False),
        (pa.array([1], pa.int8()), TypeTree(Kind.INTEGER, "int"), True),
        (pa.array([1], pa.decimal128(9, 2)), TypeTree(Kind.DECIMAL, "decimal(9,2)"), False),
        (pa.array([1], pa.decimal128(9, 2)), TypeTree(Kind.DECIMAL, "decimal(12,2)"), True),
        (pa.array([{"x": 1}]), NESTED, False),
        (pa.array([{"y": 1}]), NESTED, True),
        (pa.array([[1]]), TypeTree(Kind.OTHER, "array<bigint>", element=LONG), False),
        (pa.array([["a"]]), TypeTree(Kind.OTHER, "array<bigint>", element=LONG), True),
        (pa.array([{"x": 1}]), LONG, True),
    ],
)
def test_types_that_spark_would_not_read_so_are_refused(
    tmp_path: Path, stored: pa.Array, tree: TypeTree, refused: bool
) -> None:
    pq.write_table(pa.table({"value": stored}), tmp_path / "one.parquet")
    files = open_files([tmp_path / "one.parquet"], [FileColumn("value", tree)])
    if refused:
        with pytest.raises(UnlikeSpark):
            read_rows(files, 0)
    else:
        assert len(read_rows(files, 0)) == 1


@pytest.mark.parametrize(
    ("facts", "refused"),
    [
        ({}, False),
        ({"org.apache.spark.version": "4.1.0"}, False),
        ({"org.apache.spark.version": "3.0.3"}, True),
        ({"org.apache.spark.version": "2.4.8"}, True),
        ({"org.apache.spark.version": "what"}, True),
        ({"org.apache.spark.version": "3.5.0", "org.apache.spark.legacyDateTime": ""}, True),
    ],
)
def test_files_with_another_calendar_are_refused(tmp_path: Path, facts: dict[str, str], refused: bool) -> None:
    table = pa.table({"day": pa.array([0], pa.date32()), "id": [1]}).replace_schema_metadata(facts)
    pq.write_table(table, tmp_path / "one.parquet")
    files = open_files(
        [tmp_path / "one.parquet"], [FileColumn("day", TypeTree(Kind.DATE, "date")), FileColumn("id", LONG)]
    )
    assert len(read_rows(files, 1)) == 1
    if refused:
        with pytest.raises(UnlikeSpark, match="calendar"):
            read_rows(files, 0)
    else:
        assert len(read_rows(files, 0)) == 1


@pytest.mark.parametrize(("day", "refused"), [(-200_000, True), (-141_427, False), (0, False)])
def test_old_days_of_an_unknown_writer_are_refused(tmp_path: Path, day: int, refused: bool) -> None:
    pq.write_table(pa.table({"day": pa.array([day, None, 0], pa.date32())}), tmp_path / "one.parquet")
    columns = [FileColumn("day", TypeTree(Kind.DATE, "date"))]
    assert len(read_rows(open_files([tmp_path / "one.parquet"], columns), 0)) == 3
    strict = open_files([tmp_path / "one.parquet"], columns, checks_calendar=True)
    if refused:
        with pytest.raises(UnlikeSpark, match="before 1900"):
            read_rows(strict, 0)
    else:
        assert len(read_rows(strict, 0)) == 3


def test_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table([pa.array([1]), pa.array([2])], names=["id", "ID"]), tmp_path / "one.parquet")
    for name in ("id", "Id"):
        with pytest.raises(UnlikeSpark, match="several columns"):
            read_rows(open_files([tmp_path / "one.parquet"], [FileColumn(name, LONG)]))
    by_case = open_files([tmp_path / "one.parquet"], [FileColumn("id", LONG)], ignores_case=False)
    assert read_rows(by_case) == [(1,)]


def write_texts(file: Path, **options: Any) -> list[FileColumn]:
    texts = [None if at % 3 else f"text {at}" for at in range(1_000)]
    pq.write_table(pa.table({"id": np.arange(1_000), "text": texts}), file, row_group_size=60, **options)
    return [FileColumn("id", LONG), FileColumn("text", TEXT)]


@pytest.mark.parametrize("size", [1, 7, 100, 5_000])
def test_nulls_are_counted_without_reading_values(tmp_path: Path, size: int) -> None:
    columns = write_texts(tmp_path / "one.parquet")
    files = open_files([tmp_path / "one.parquet"], columns, counted=frozenset({1}))
    for positions in ((0, 1), (1,)):
        found = [row[-1] for row in read_rows(files, *positions, size=size)]
        assert (found.count(None), found.count(True)) == (666, 334)


def test_values_are_read_where_the_footer_counts_no_nulls(tmp_path: Path) -> None:
    columns = write_texts(tmp_path / "one.parquet", write_statistics=["id"])
    files = open_files([tmp_path / "one.parquet"], columns, counted=frozenset({0, 1}))
    found = read_rows(files)
    assert {row[0] for row in found} == {True}
    assert sum(row[1] is not None for row in found) == 334
    assert (True, "text 999") in found


def test_nulls_of_nested_values_and_of_columns_that_a_file_lacks_are_counted(tmp_path: Path) -> None:
    nested = TypeTree(Kind.OTHER, "array<bigint>", element=LONG)
    pq.write_table(pa.table({"items": [[1, None], [], None]}), tmp_path / "one.parquet")
    columns = [FileColumn("more", TEXT), FileColumn("items", nested)]
    found = read_rows(open_files([tmp_path / "one.parquet"], columns, counted=frozenset({0, 1})))
    assert found == [(None, [1, None]), (None, []), (None, None)]
