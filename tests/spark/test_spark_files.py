"""Tasks that read Parquet files themselves give what Spark gives, or leave the files to Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headgate as hg
from headgate.engine.plan import make_plan
from headgate.engine.spark_files import SWITCH, plan_reading
from headgate.engine.spark_frame import open_spark
from headgate.metrics.base.registry import default_metrics
from tests.spark.agreement import differences
from tests.spark.conftest import CountJobs
from tests.spark.samples import every_metric, sample

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    before = spark.conf.get(name, None)
    spark.conf.set(name, value)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, before)


def find_reason(frame: DataFrame, metrics: Any = None) -> str:
    """Why Spark reads a batch; empty if tasks do."""
    schema = open_spark(frame)
    return plan_reading(frame, make_plan(schema, metrics or default_metrics(schema))).why_not


def metrics_of_files(frame: DataFrame) -> list[Any]:
    """Every metric on every column, without those that are left to Spark."""
    return [each for each in every_metric(open_spark(frame)) if not (each.every_column or each.memberships)]


def find_differences(frame: DataFrame, metrics: Any = None, by: Any = None) -> list[str]:
    """In which metrics a scan whose tasks read files differs from one that Spark feeds."""
    wanted = list(metrics or default_metrics(open_spark(frame)))
    found = hg.analyze(frame, wanted, by=by)
    with setting(frame.sparkSession, SWITCH, "false"):
        expected = hg.analyze(frame, wanted, by=by)
    if by is None:
        return differences(found, expected, list(found.metrics))
    assert set(found) == set(expected)
    return [line for part in expected for line in differences(found[part], expected[part], list(found[part].metrics))]


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table with every kind of column, in three files that Spark wrote."""
    folder = tmp_path_factory.mktemp("files") / "sample"
    frame = spark.createDataFrame(sample()).repartition(3)
    frame.write.parquet(str(folder))
    return folder


def test_every_metric_of_every_type_is_equal(spark: SparkSession, written: Path, jobs: CountJobs) -> None:
    frame = spark.read.parquet(str(written))
    metrics = metrics_of_files(frame)
    assert find_reason(frame, metrics) == ""
    assert find_differences(frame, metrics) == []
    with jobs() as started:
        hg.analyze(frame, metrics)
    assert len(started) == 1


@pytest.mark.parametrize(
    "others",
    [[], [hg.Mean("double")], [hg.Completeness("word", where="double > 1")], [hg.Compliance("word = 'a'")]],
    ids=["alone", "mean", "filter", "predicate"],
)
def test_nulls_of_every_type_are_counted_alike(spark: SparkSession, written: Path, others: list[Any]) -> None:
    frame = spark.read.parquet(str(written))
    metrics = [hg.Completeness(name) for name in frame.columns] + others
    assert find_reason(frame, metrics) == ""
    assert find_differences(frame, metrics) == []
    assert find_differences(frame.where("double > 1"), metrics) == []
    assert find_differences(frame.where("double > 1"), metrics, by="flag") == []


def test_only_columns_without_another_use_are_counted(spark: SparkSession, written: Path) -> None:
    frame = spark.read.parquet(str(written))

    def find_counted(*metrics: Any) -> set[str]:
        files = plan_reading(frame, make_plan(open_spark(frame), metrics)).files
        assert files is not None
        return {files.columns[at].name for at in files.counted}

    assert find_counted(hg.Completeness("word"), hg.Completeness("double")) == {"word", "double"}
    assert find_counted(hg.Completeness("word"), hg.Completeness("double"), hg.Mean("double")) == {"word"}
    assert find_counted(hg.Completeness("word"), hg.Compliance("word = 'a'")) == set()
    assert find_counted(hg.Completeness("word", where="double > 1"), hg.Completeness("day")) == {"day"}


def test_values_of_nested_columns_are_left_to_spark(spark: SparkSession, written: Path) -> None:
    frame = spark.read.parquet(str(written))
    assert find_reason(frame, ["checksum()"]) == "a metric reads the values of nested columns"
    assert find_differences(frame, ["checksum()", "size()"]) == []


def test_parts_of_a_batch_are_equal(spark: SparkSession, written: Path) -> None:
    frame = spark.read.parquet(str(written))
    metrics = ["size()", "mean(double)", "value_distribution(word)", "max(day)"]
    assert find_reason(frame, metrics) == ""
    assert find_differences(frame, metrics, by=["word", "flag"]) == []


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (lambda frame: frame.where("whole > 500 AND word = 'abc'"), ""),
        (lambda frame: frame.where("flag").select("id", "word"), ""),
        (lambda frame: frame.where("day >= '2001-01-01' OR single IS NULL"), ""),
        (lambda frame: frame.selectExpr("word AS id", "id AS word", "id AS again"), ""),
        (lambda frame: frame.select("id", "id"), ""),
        (lambda frame: frame.where("whole IN (1, 2, 3) AND NOT wide BETWEEN 5 AND 7"), ""),
        (lambda frame: frame.where("moment > '2021-01-01'"), "only Spark knows which rows"),
        (lambda frame: frame.where("length(word) > 2"), "only Spark knows which rows"),
        (lambda frame: frame.selectExpr("id + 1 AS next", "word"), "Spark computes the column 'next'"),
        (lambda frame: frame.select("id", "word").distinct(), "the query is no plain scan of files"),
        (lambda frame: frame.limit(10), "the query is no plain scan of files"),
        (lambda frame: frame.union(frame), "the query is no plain scan of files"),
        (lambda frame: frame.sample(0.5, 1), "the query is no plain scan of files"),
    ],
)
def test_queries_are_equal(spark: SparkSession, written: Path, query: Any, why: str) -> None:
    frame = query(spark.read.parquet(str(written)))
    reason = find_reason(frame)
    assert reason.startswith(why)
    assert bool(reason) == bool(why)
    assert find_differences(frame) == []


def test_a_cached_frame_is_not_read_again(spark: SparkSession, written: Path) -> None:
    frame = spark.read.parquet(str(written)).select("id").cache()
    try:
        assert "no plain scan" in find_reason(frame)
    finally:
        frame.unpersist()


def test_other_formats_are_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(5).write.csv(str(tmp_path / "csv"))
    assert "no Parquet files" in find_reason(spark.read.csv(str(tmp_path / "csv")))
    assert "no plain scan" in find_reason(spark.range(5).toDF("id"))


def test_the_switch_leaves_files_to_spark(spark: SparkSession, written: Path) -> None:
    with setting(spark, SWITCH, "false"):
        assert find_reason(spark.read.parquet(str(written))) == "spark.headgate.readFiles is false"


def test_rules_about_single_rows_are_read_from_files(spark: SparkSession, written: Path) -> None:
    frame = spark.read.parquet(str(written))
    doubled = frame.select(
        "*", frame["double"].alias("double2"), frame["moment"].alias("moment2"), frame["code"].alias("code2")
    )
    moment = datetime(2021, 6, 1, 12, 30, 0, 250, tzinfo=UTC)
    known = sample()["moment"].drop_null().to_pylist()[:2]
    check = (
        hg.Check("orders")
        .is_in_range("double", 0.5, 2.0)
        .is_in_range("single", high=1)
        .is_in_range("whole", 10, 900)
        .is_in_range("moment", moment, moment + timedelta(days=300))
        .is_in_range("wall", low=moment)
        .is_in_range("day", date(2000, 1, 1), date(2001, 1, 1))
        .is_non_negative("double")
        .is_positive("wide")
        .is_less_than("double", "double2")
        .is_less_than_or_equal_to("double", "double2")
        .is_greater_than_or_equal_to("moment", "moment2")
        .is_less_than("word", "code")
        .is_greater_than("code", "code2")
        .is_contained_in("word", ["abc", "日本語"])
        .is_contained_in("moment", known)
        .are_complete("double", "word")
        .are_any_complete("double", "word")
    )
    metrics = [judged.judgement.expectation.metric for judged in hg.verify(doubled, check).judged]
    assert len(metrics) == 17
    assert find_reason(doubled, metrics) == ""
    assert find_differences(doubled, metrics) == []
    for zone in ("UTC", "America/New_York"):
        with setting(spark, "spark.sql.session.timeZone", zone), setting(spark, "spark.sql.ansi.enabled", "false"):
            assert find_differences(doubled, metrics) == []


@pytest.mark.parametrize(
    "kind", [pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.timestamp("ms"), pa.timestamp("ms", "UTC")]
)
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_moments_are_compared_as_moments_in_every_mode(
    spark: SparkSession, tmp_path: Path, kind: pa.DataType, ansi: str
) -> None:
    moments = [datetime(2026, 1, 2, 3, 4, 5, 250_000, tzinfo=UTC) + timedelta(hours=at) for at in range(4)]
    pq.write_table(pa.table({"at": pa.array(moments, pa.timestamp("us", "UTC")).cast(kind)}), tmp_path / "part.parquet")
    frame = spark.read.parquet(str(tmp_path))
    check = hg.Check("c").is_contained_in("at", moments[:1]).is_in_range("at", moments[1], moments[3])
    metrics = [judged.judgement.expectation.metric for judged in hg.verify(frame, check).judged]
    for zone in ("UTC", "America/New_York"):
        with setting(spark, "spark.sql.session.timeZone", zone), setting(spark, "spark.sql.ansi.enabled", ansi):
            assert find_reason(frame, metrics) == ""
            assert find_differences(frame, metrics) == []
            assert [hg.analyze(frame, metrics).value(metric) for metric in metrics] == [0.25, 0.75]


def test_predicates_that_only_spark_knows(spark: SparkSession, written: Path) -> None:
    frame = spark.read.parquet(str(written))
    assert find_reason(frame, [hg.Compliance("whole % 2 = 0")]) == "only Spark knows what 'whole % 2 = 0' means"
    assert find_reason(frame, [hg.Compliance("whole >= 0"), hg.Mean("double", where="word <> 'abc'")]) == ""


def test_partition_columns_are_equal(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame(sample(500)).selectExpr(
        "id", "double", "word AS `a word`", "day", "whole % 3 AS third", "flag"
    )
    frame.write.partitionBy("a word", "day", "third", "flag").parquet(str(tmp_path / "parted"))
    read = spark.read.parquet(str(tmp_path / "parted"))
    for query in (read, read.where("third = 1"), read.where("`a word` = 'abc' OR third IS NULL"), read.select("third")):
        assert find_reason(query) == ""
        assert find_differences(query) == []
    assert find_differences(read, ["size()", "mean(id)"], by=["third", "a word", "day"]) == []
    without_files = read.where("third = 99")
    assert find_reason(without_files) == ""
    assert hg.analyze(without_files, ["size()"]).value("size()") == 0


def test_tables_of_the_catalogue_are_equal(spark: SparkSession) -> None:
    spark.createDataFrame(sample(200)).select("id", "word", "day").write.saveAsTable("sample_of_files")
    try:
        frame = spark.table("sample_of_files").where("id < 100")
        assert find_reason(frame) == ""
        assert find_differences(frame) == []
    finally:
        spark.sql("DROP TABLE sample_of_files")


def test_facts_about_files_are_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path, OLDER, NEWER.select(["id", "name"]))
    frame = spark.read.parquet(str(tmp_path))
    chosen = frame.where("_metadata.file_name = 'part-1.parquet'")
    assert find_reason(chosen) != ""
    assert hg.analyze(chosen, ["size()"]).value("size()") == 2
    assert find_differences(chosen) == []
    for query in (frame.select("*", "_metadata.file_name"), frame.selectExpr("id", "input_file_name() AS name")):
        assert find_reason(query) != ""
        assert find_differences(query) == []


def test_defaults_of_added_columns_are_left_to_spark(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE with_default (id INT) USING parquet")
    try:
        spark.sql("INSERT INTO with_default VALUES (1), (2)")
        spark.sql("ALTER TABLE with_default ADD COLUMN level INT DEFAULT 5")
        frame = spark.table("with_default")
        assert hg.analyze(frame, ["mean(level)"]).value("mean(level)") == 5
        assert find_reason(frame, ["mean(id)"]) != "" or find_differences(frame, ["mean(id)"]) == []
    finally:
        spark.sql("DROP TABLE with_default")


def test_padded_texts_are_equal(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE padded (code CHAR(5), name VARCHAR(5)) USING parquet")
    try:
        spark.sql("INSERT INTO padded VALUES ('a', 'b'), (NULL, 'ccc')")
        assert find_differences(spark.table("padded")) == []
    finally:
        spark.sql("DROP TABLE padded")


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "old format": {"version": "1.0"},
    "version 2 pages": {"data_page_version": "2.0", "version": "2.6"},
    "without dictionaries": {"use_dictionary": False},
    "zstd": {"compression": "zstd"},
    "not compressed": {"compression": "none"},
    "many row groups": {"row_group_size": 100},
    "small pages": {"data_page_size": 512, "dictionary_pagesize_limit": 2048},
    "int96": {"use_deprecated_int96_timestamps": True},
    "milliseconds": {"coerce_timestamps": "ms", "allow_truncated_timestamps": True},
    "without the schema of Arrow": {"store_schema": False},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_files_that_arrow_wrote_are_equal(spark: SparkSession, tmp_path: Path, name: str) -> None:
    table = sample(1_000)
    pq.write_table(table, tmp_path / "one.parquet", **OPTIONS[name])
    frame = spark.read.parquet(str(tmp_path))
    assert find_reason(frame) == ""
    assert find_differences(frame) == []


PAIR = pa.struct([("a", pa.int64()), ("b", pa.string())])
ODD_TYPES = {
    "large text": pa.array(["a", None, "ü"], pa.large_string()),
    "dictionary": pa.array(["a", None, "a"]).dictionary_encode(),
    "unsigned bytes": pa.array([1, None, 255], pa.uint8()),
    "unsigned": pa.array([1, None, 2**32 - 1], pa.uint32()),
    "unsigned long": pa.array([1, None, 2**64 - 1], pa.uint64()),
    "duration": pa.array([1, None, 5], pa.duration("s")),
    "nanoseconds": pa.array([1, None, 5], pa.timestamp("ns")),
    "seconds": pa.array([1, None, 5], pa.timestamp("s", "Europe/Rome")),
    "local seconds": pa.array([1, None, 5], pa.timestamp("s")),
    "milliseconds": pa.array([1, None, -5], pa.timestamp("ms", "UTC")),
    "time": pa.array([1, None, 5], pa.time64("us")),
    "day in milliseconds": pa.array([0, None, 86_400_000], pa.date64()),
    "short decimal": pa.array([Decimal("1.50"), None, Decimal("-3.25")], pa.decimal128(5, 2)),
    "fixed bytes": pa.array([b"ab", None, b"cd"], pa.binary(2)),
    "large bytes": pa.array([b"ab", None, b"\xff"], pa.large_binary()),
    "large list": pa.array([[1], None, [2, 3]], pa.large_list(pa.int64())),
    "list of structs": pa.array(
        [[{"a": 1, "b": "x"}], None, []], pa.list_(pa.struct([("a", pa.int64()), ("b", pa.string())]))
    ),
    "struct of moments": pa.array([{"at": 1}, None, {"at": None}], pa.struct([("at", pa.timestamp("us", "UTC"))])),
    "half": pa.array(np.array([1, 2, 3], np.float16)),
    "float": pa.array([1.5, None, float("nan")], pa.float32()),
    "boolean": pa.array([True, None, False]),
    "invalid text": pa.Array.from_buffers(
        pa.string(), 3, [None, pa.array([0, 2, 3, 5], pa.int32()).buffers()[1], pa.py_buffer(b"\xff\xfea\xc3\x28")]
    ),
}


@pytest.mark.parametrize("name", ODD_TYPES)
def test_odd_types_are_equal_or_left_to_spark(spark: SparkSession, tmp_path: Path, name: str) -> None:
    pq.write_table(pa.table({"id": [1, 2, 3], "value": ODD_TYPES[name]}), tmp_path / "one.parquet")
    try:
        frame = spark.read.parquet(str(tmp_path))
        _ = frame.schema
    except Exception:  # Spark refuses some types at once
        return
    try:
        with setting(spark, SWITCH, "false"):
            hg.analyze(frame)
    except Exception as error:
        with pytest.raises(type(error)):
            hg.analyze(frame)
        return
    assert find_differences(frame) == []


def write_files(folder: Path, *tables: pa.Table, **options: Any) -> None:
    for at, table in enumerate(tables):
        pq.write_table(table, folder / f"part-{at}.parquet", **options)


NEWER = pa.table({"extra": [1.5, 2.5], "id": pa.array([3, 4], pa.int64()), "name": ["c", None]})
OLDER = pa.table({"id": pa.array([1, 2], pa.int64()), "name": ["a", "b"]})


@pytest.mark.parametrize("merged", ["true", "false"])
def test_a_schema_that_grows_is_equal(spark: SparkSession, tmp_path: Path, merged: str) -> None:
    write_files(tmp_path, NEWER, OLDER)
    frame = spark.read.option("mergeSchema", merged).parquet(str(tmp_path))
    assert find_reason(frame) == ""
    assert find_differences(frame) == []


def test_a_column_that_no_file_has_is_null(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path, OLDER)
    frame = spark.read.schema("id bigint, gone string, lost decimal(12,3), name string").parquet(str(tmp_path))
    assert find_reason(frame) == ""
    assert find_differences(frame) == []
    assert find_differences(frame.select("gone")) == []


@pytest.mark.parametrize("schema", ["ID bigint, Name string", "id int, name string", "id bigint, name binary"])
def test_a_schema_of_the_user_is_equal_or_left_to_spark(spark: SparkSession, tmp_path: Path, schema: str) -> None:
    write_files(tmp_path, OLDER)
    frame = spark.read.schema(schema).parquet(str(tmp_path))
    try:
        with setting(spark, SWITCH, "false"):
            expected = hg.analyze(frame)
    except Exception as error:
        with pytest.raises(type(error)):
            hg.analyze(frame)
        return
    found = hg.analyze(frame)
    assert differences(found, expected, list(found.metrics)) == []


def test_names_that_differ_in_case_are_left_to_spark(spark: SparkSession, tmp_path: Path, jobs: CountJobs) -> None:
    write_files(tmp_path, pa.table({"id": [1, 2], "Id": ["a", "b"], "other": [1, 2]}))
    with setting(spark, "spark.sql.caseSensitive", "true"):
        frame = spark.read.parquet(str(tmp_path))
        assert find_differences(frame) == []
    frame = spark.read.schema("other bigint, ID bigint").parquet(str(tmp_path))
    with jobs() as started:
        found = hg.analyze(frame, ["mean(other)"])
    assert found.value("mean(other)") == 1.5
    assert len(started) == 1


def test_files_of_different_types_are_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path, OLDER, pa.table({"id": pa.array([7], pa.int32()), "name": ["x"]}))
    frame = spark.read.schema("id bigint, name string").parquet(str(tmp_path))
    with setting(spark, SWITCH, "false"):
        expected = hg.analyze(frame)
    found = hg.analyze(frame)
    assert differences(found, expected, list(found.metrics)) == []


OLD_MOMENTS = pa.table(
    {
        "day": [date(1500, 1, 1), date(2020, 1, 1)],
        "at": [datetime(1500, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC)],
    }
)


@pytest.mark.parametrize("mode", ["LEGACY", "CORRECTED"])
def test_calendars_are_those_of_spark(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    with (
        setting(spark, "spark.sql.parquet.datetimeRebaseModeInWrite", mode),
        setting(spark, "spark.sql.parquet.int96RebaseModeInWrite", mode),
    ):
        spark.createDataFrame(OLD_MOMENTS).write.parquet(str(tmp_path / "spark"))
    frame = spark.read.parquet(str(tmp_path / "spark"))
    assert hg.analyze(frame, ["min(day)"]).value("min(day)") == (date(1500, 1, 1) - date(1970, 1, 1)).days * 86_400.0
    assert find_differences(frame) == []


@pytest.mark.parametrize("mode", ["LEGACY", "CORRECTED", "EXCEPTION"])
@pytest.mark.parametrize("table", [OLD_MOMENTS, OLD_MOMENTS.slice(1)])
def test_calendars_that_no_writer_tells(spark: SparkSession, tmp_path: Path, mode: str, table: pa.Table) -> None:
    write_files(tmp_path, table)
    with setting(spark, "spark.sql.parquet.datetimeRebaseModeInRead", mode):
        frame = spark.read.parquet(str(tmp_path))
        with setting(spark, SWITCH, "false"):
            try:
                expected = hg.analyze(frame)
            except hg.HeadgateError as error:
                with pytest.raises(type(error)):
                    hg.analyze(frame)
                return
        found = hg.analyze(frame)
        assert differences(found, expected, list(found.metrics)) == []


def test_every_row_group_is_read_once(spark: SparkSession, tmp_path: Path) -> None:
    rows = 20_000
    numbers = pa.table({"id": np.arange(rows), "text": [f"text {at}" for at in range(rows)]})
    write_files(tmp_path, numbers, numbers.slice(0, 0), numbers.slice(5, 3), row_group_size=700)
    for size in ("4kb", "10kb", "1mb"):
        with (
            setting(spark, "spark.sql.files.maxPartitionBytes", size),
            setting(spark, "spark.sql.files.openCostInBytes", "1"),
        ):
            frame = spark.read.parquet(str(tmp_path))
            found = hg.analyze(frame, ["size()", "sum(id)", "count_distinct(id)"])
        assert found.value("size()") == rows + 3
        assert found.value("sum(id)") == rows * (rows - 1) / 2 + 5 + 6 + 7
        assert found.value("count_distinct(id)") == rows


def test_an_empty_folder_of_files(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path, OLDER.slice(0, 0))
    frame = spark.read.parquet(str(tmp_path))
    assert find_differences(frame) == []
    assert hg.analyze(frame, ["size()"]).value("size()") == 0
    assert find_differences(frame.where("id > 5")) == []


def test_a_file_that_is_gone_is_told_as_before(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path, OLDER, NEWER.select(["id", "name"]))
    frame = spark.read.parquet(str(tmp_path))
    (tmp_path / "part-1.parquet").unlink()
    with pytest.raises(hg.HeadgateError, match="could not be read"):
        hg.analyze(frame)


def test_a_damaged_file_is_told_as_before(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path, OLDER, NEWER.select(["id", "name"]))
    frame = spark.read.parquet(str(tmp_path))
    (tmp_path / "part-1.parquet").write_bytes(b"PAR1 this is no file of Parquet PAR1")
    with pytest.raises(hg.HeadgateError, match="could not be read"):
        hg.analyze(frame)


def test_odd_names_of_files_and_columns(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "a b%20c" / "day=2026-11-14 06%3A00"
    folder.mkdir(parents=True)
    odd = pa.table({"a b": [1, 2], "ü`x": ["p", "q"], "n\nn": [1.5, None], "": [1, 2]})
    pq.write_table(odd, folder / "part 1%2B.parquet")
    frame = spark.read.parquet(str(tmp_path / "a b%20c"))
    assert find_reason(frame) == ""
    assert find_differences(frame) == []
    pq.write_table(pa.table({"a.b": [1, 2], "c": [1, 2]}), tmp_path / "dots.parquet")
    assert find_differences(spark.read.parquet(str(tmp_path / "dots.parquet"))) == []


def test_long_texts_and_many_rows_in_a_group(spark: SparkSession, tmp_path: Path) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    table = pa.table(
        {
            "long": ["x" * 5_000 + str(at % 7) for at in range(3_000)],
            "few": [f"value {at % 12}" for at in range(3_000)],
            "at": [start + timedelta(minutes=at) for at in range(3_000)],
        }
    )
    write_files(tmp_path, table)
    frame = spark.read.parquet(str(tmp_path))
    assert find_reason(frame) == ""
    assert find_differences(frame) == []
