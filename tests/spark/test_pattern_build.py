"""The index of a lake by a Spark job: the same bytes as without Spark, however the work is cut, classic and Connect."""

from __future__ import annotations

import contextlib
import io
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from headgate.engine.spark_settings import apply_settings
from headgate.learn.patterns import build, index_file
from headgate.learn.patterns.build import build_index, index_columns
from headgate.learn.patterns.entries import Entries
from headgate.learn.patterns.find_columns import find_columns
from headgate.learn.patterns.index_file import PatternFile
from headgate.learn.patterns.pattern import Atom, AtomKind, Pattern
from headgate.learn.patterns.rule import Branch, PatternRule
from headgate.learn.patterns.segments import PatternSegment
from headgate.values.errors import MisuseError
from tests.spark.conftest import CountJobs

HOSTILE = ["a.b", "`tick`", "line\nbreak", "🚰", "", "a.b"]
ROWS = 40


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest, spark: SparkSession, connect: Any) -> Any:
    return spark if request.param == "classic" else connect


def column(seed: int, count: int = 30) -> list[str]:
    chance = random.Random(seed)
    kinds = [
        lambda: f"{chance.choice('ABC')}-{chance.randrange(10_000):04}",
        lambda: f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}",
        lambda: chance.choice(["Zoë", "Ann Lee", "Bob", "https://example.org/x", "\N{POTABLE WATER SYMBOL}"]),
    ]
    return [kinds[seed % 3]() for _ in range(count)]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables with hostile names, part files, CSV, and files that cannot be read."""
    folder = tmp_path_factory.mktemp("lake")
    for at in range(8):
        arrays = [pa.array(column(10 * at + place)) for place in range(len(HOSTILE))]
        pq.write_table(pa.Table.from_arrays(arrays, HOSTILE), folder / f"t{at}.parquet")
    (folder / "parts").mkdir()
    for at in range(3):
        pq.write_table(pa.table({"x": column(at)}), folder / "parts" / f"part-{at}.parquet")
    (folder / "latin.csv").write_bytes(("name,n\n" + "Zoë,1\n" * 20).encode("latin-1"))
    (folder / "empty.csv").write_bytes(b"")
    (folder / "corrupt.parquet").write_bytes(b"PAR1 nothing PAR1")
    return folder


@pytest.fixture(scope="module")
def expected(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    target = tmp_path_factory.mktemp("expected") / "x.hgi"
    build_index(lake, target, name="lake")
    return target.read_bytes()


def frame_of(session: Any, columns: Sequence[Sequence[str | None]], *, position: bool = True) -> Any:
    """The values of all columns in no order."""
    rows = [(f"c{name}", value, at) for name, values in enumerate(columns) for at, value in enumerate(values)]
    random.Random(3).shuffle(rows)
    frame = session.createDataFrame(rows, "column string, value string, position int").repartition(5)
    return frame if position else frame.drop("position")


def entries_in(target: Path) -> Entries:
    with PatternFile.open(target) as index:
        return sum(index.read_chunks(), Entries.empty())


def test_spark_writes_the_same_bytes_as_this_process(session: Any, lake: Path, expected: bytes, tmp_path: Path) -> None:
    built = build_index([lake], tmp_path / "x.hgi", spark=session, name="lake")
    assert (tmp_path / "x.hgi").read_bytes() == expected
    assert built.columns == 8 * len(HOSTILE) + 3
    assert [Path(each.path).name for each in built.skipped] == ["corrupt.parquet", "empty.csv"]


@pytest.mark.parametrize("tasks", [1, 7])
def test_the_number_of_tasks_changes_nothing(
    spark: SparkSession, lake: Path, expected: bytes, tmp_path: Path, tasks: int
) -> None:
    build_index([lake], tmp_path / "x.hgi", spark=spark, name="lake", tasks=tasks)
    assert (tmp_path / "x.hgi").read_bytes() == expected


def test_adaptive_execution_changes_nothing_but_the_number_of_jobs(
    spark: SparkSession, lake: Path, expected: bytes, tmp_path: Path, jobs: CountJobs
) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    try:
        with jobs() as started:
            build_index([lake], tmp_path / "x.hgi", spark=spark, name="lake")
    finally:
        spark.conf.unset("spark.sql.adaptive.enabled")
        spark.conf.unset("spark.sql.shuffle.partitions")
    assert (tmp_path / "x.hgi").read_bytes() == expected
    assert len(started) == 3
    assert set(started) == {"headgate: index of patterns"}


def test_the_settings_of_the_session_are_as_before(spark: SparkSession, lake: Path, tmp_path: Path) -> None:
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(name)
    build_index([lake], tmp_path / "x.hgi", spark=spark)
    assert spark.conf.get(name) == before


def test_a_floor_is_the_same_on_spark(spark: SparkSession, lake: Path, tmp_path: Path) -> None:
    build_index([lake], tmp_path / "here.hgi", floor=4)
    built = build_index([lake], tmp_path / "there.hgi", spark=spark, floor=4)
    assert (tmp_path / "here.hgi").read_bytes() == (tmp_path / "there.hgi").read_bytes()
    assert built.patterns > 0


def test_an_index_grows_by_merging(spark: SparkSession, lake: Path, expected: bytes, tmp_path: Path) -> None:
    one = [str(path) for path in sorted(lake.glob("t[0-3].parquet"))]
    two = [str(path) for path in sorted(lake.iterdir()) if str(path) not in one]
    build_index(one, tmp_path / "one.hgi", spark=spark)
    build_index(two, tmp_path / "two.hgi", spark=spark)
    (tmp_path / "whole.hgi").write_bytes(expected)
    with PatternFile.open(tmp_path / "whole.hgi") as whole:
        about = whole.about
    index_file.merge_indexes([tmp_path / "one.hgi", tmp_path / "two.hgi"], tmp_path / "merged.hgi", about)
    assert (tmp_path / "merged.hgi").read_bytes() == expected


def test_a_dataframe_of_values_in_their_order_is_the_same_index(session: Any, tmp_path: Path) -> None:
    columns = [column(at, count=20 + 7 * at) for at in range(12)]
    odd: list[list[str | None]] = [column(1, 9), ["", None] * 20, [*column(2, 12), None, ""], ["x" * 5_000] * 20]
    built = build_index(frame_of(session, [*columns, *odd]), tmp_path / "there.hgi", rows=ROWS)
    build_index(((str(at), each) for at, each in enumerate([*columns, *odd])), tmp_path / "here.hgi", rows=ROWS)
    assert (tmp_path / "there.hgi").read_bytes() == (tmp_path / "here.hgi").read_bytes()
    assert built.columns == len(columns) + 2


def test_the_order_of_a_dataframe_without_positions_is_a_sample_that_never_changes(
    session: Any, tmp_path: Path
) -> None:
    columns = [["rare", *["common"] * 99], *(column(at, 200) for at in range(3))]
    frame = frame_of(session, columns, position=False)
    build_index(frame, tmp_path / "one.hgi", rows=150)
    build_index(frame.repartition(3).sort("value"), tmp_path / "two.hgi", rows=150)
    assert (tmp_path / "one.hgi").read_bytes() == (tmp_path / "two.hgi").read_bytes()
    with PatternFile.open(tmp_path / "one.hgi") as index:
        assert index.about["columns"] == 4


def test_the_first_values_without_positions_are_not_all_the_same_value(spark: SparkSession, tmp_path: Path) -> None:
    """Sorted by a hash of the value alone, the first tenth would be one value, and each constant would seem a rule."""
    columns = [[f"{word}{seed}" for word in ("left-", "right_") for _ in range(50)] for seed in range(10)]
    build_index(frame_of(spark, columns, position=False), tmp_path / "x.hgi")
    rows = entries_in(tmp_path / "x.hgi").rows
    assert rows["columns"].max() == 10
    assert rows["slipped"].sum() == 0
    sorted_by_value = index_columns(columns).rows
    assert sorted_by_value["slipped"].sum() > 0


def test_a_long_column_is_cut_before_it_is_exchanged(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(0, 30_000, 1, 3).selectExpr(
        "if(id < 0, 'b', concat('c', id % 1)) AS column",
        "concat('n', id) AS value",
        "if(id < 5000, null, id) AS position",
    )
    with apply_settings(spark, build.SETTINGS), contextlib.redirect_stdout(io.StringIO()) as plan:
        build._read_frame(frame, build._BuildSettings(tau=8, floor=1, rows=10_000)).explain()
    before_the_exchange = plan.getvalue().rpartition("Exchange hashpartitioning")[2]
    assert re.search("WindowGroupLimit .*Partial", before_the_exchange)
    build_index(frame, tmp_path / "there.hgi", rows=10_000)
    build_index([("c", [f"n{at}" for at in range(5_000, 15_000)])], tmp_path / "here.hgi", rows=10_000)
    assert (tmp_path / "there.hgi").read_bytes() == (tmp_path / "here.hgi").read_bytes()


def test_columns_of_other_types_and_names_in_capitals_are_understood(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(0, 40).selectExpr("id % 2 AS COLUMN", "concat('A-', id) AS Value", "id AS Position")
    built = build_index(frame, tmp_path / "x.hgi")
    assert built.columns == 2
    assert entries_in(tmp_path / "x.hgi") == index_columns(
        [[f"A-{at}" for at in range(start, 40, 2)] for start in range(2)]
    )


def test_a_dataframe_of_other_columns_is_refused(session: Any, tmp_path: Path) -> None:
    for frame in (session.range(3), session.range(3).selectExpr("'a' AS column", "id AS value")):
        with pytest.raises(MisuseError, match="Name them `column`, `value`"):
            build_index(frame, tmp_path / "x.hgi")
    assert not list(tmp_path.iterdir())


def test_spark_finds_the_same_carriers_of_a_tag(session: Any, lake: Path) -> None:
    tag = PatternRule((Branch((PatternSegment(Pattern((Atom(AtomKind.PHRASE),))),)),), 100, 0, 0.0, 0.0)
    found = find_columns(tag, lake, spark=session, least=0.01)
    assert found == find_columns(tag, lake, least=0.01)
    assert found
