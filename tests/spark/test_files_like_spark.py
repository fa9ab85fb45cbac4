"""Files and queries that tasks once read in another way than Spark: equal now, or left to Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headgate as hg
from headgate.engine import parquet_files
from headgate.engine import spark as engine
from headgate.engine.spark_files import SWITCH
from tests.spark.conftest import CountJobs
from tests.spark.test_spark_files import find_differences, find_reason, setting, write_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_field_of_a_struct_is_not_the_column_of_its_name(spark: SparkSession, tmp_path: Path) -> None:
    items = [{"price": 10.0}, {"price": 20.0}, {"price": 3.0}, {"price": 4.0}]
    write_files(tmp_path, pa.table({"id": [1, 2, 3, 4], "price": [1.0, 2.0, 30.0, 40.0], "item": items}))
    frame = spark.read.parquet(str(tmp_path))
    for query in (frame.where("item.price > 5"), frame.alias("q").where("q.item.price > 5")):
        assert hg.analyze(query, ["sum(id)"]).value("sum(id)") == 3.0
        assert find_differences(query, ["size()", "sum(id)"]) == []
    assert find_reason(frame.alias("item").where("item.price > 5"), [hg.Sum("id")]) == ""
    assert hg.analyze(frame.alias("item").where("item.id > 3"), ["sum(id)"]).value("sum(id)") == 4.0


def test_partitions_that_come_after_the_first_scan_are_read(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE grows (id INT, day INT) USING parquet PARTITIONED BY (day)")
    try:
        spark.sql("INSERT INTO grows VALUES (1, 1), (2, 2)")
        frame = spark.table("grows").where("day >= 1")
        assert hg.analyze(frame, ["size()"]).value("size()") == 2
        spark.sql("INSERT INTO grows VALUES (3, 3)")
        assert hg.analyze(frame, ["size()"]).value("size()") == frame.count() == 3
    finally:
        spark.sql("DROP TABLE grows")


def test_a_cache_that_comes_after_the_first_scan_is_read(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path, pa.table({"id": list(range(5))}))
    frame = spark.read.parquet(str(tmp_path))
    hg.analyze(frame, ["size()"])
    frame.cache().count()
    try:
        write_files(tmp_path, pa.table({"id": list(range(50))}))
        assert hg.analyze(frame, ["size()"]).value("size()") == 5
    finally:
        frame.unpersist()


def test_lists_without_a_mark_are_not_null_where_they_are_empty(spark: SparkSession, tmp_path: Path) -> None:
    """As parquet-protobuf writes them: a footer counts an empty list as a null."""
    java: Any = spark._jvm
    schema = java.org.apache.parquet.schema.MessageTypeParser.parseMessageType(
        "message m { required int32 id; repeated int32 nums; }"
    )
    path = java.org.apache.hadoop.fs.Path(f"file://{tmp_path}/one.parquet")
    writer = java.org.apache.parquet.hadoop.example.ExampleParquetWriter.builder(path).withType(schema).build()
    for size in range(4):
        group = java.org.apache.parquet.example.data.simple.SimpleGroupFactory(schema).newGroup()
        group.add("id", size)
        for number in range(size):
            group.add("nums", number)
        writer.write(group)
    writer.close()
    frame = spark.read.parquet(str(tmp_path))
    assert find_differences(frame, [hg.Completeness("nums"), hg.Completeness("id")]) == []
    assert find_differences(frame) == []


@pytest.mark.skipif(not hasattr(pa, "decimal32"), reason="this pyarrow has only wide decimals")
def test_narrow_decimals_of_arrow_have_the_hashes_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    values = ["1.50", "2.50", None]
    tables = [pa.table({"price": pa.array(values).cast(kind)}) for kind in (pa.decimal32(5, 2), pa.decimal128(5, 2))]
    write_files(tmp_path, *tables)
    metrics = ["count_distinct(price)", "approx_count_distinct(price)", "uniqueness(price)"]
    assert find_differences(spark.read.parquet(str(tmp_path)), metrics) == []


def test_the_case_of_names_matters_if_the_session_says_so_in_any_case(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path, pa.table({"Id": [1, 2, 3]}))
    frame = spark.read.schema("id bigint").parquet(str(tmp_path))
    for value in ("True", "false"):
        with setting(spark, "spark.sql.caseSensitive", value):
            assert find_differences(frame, ["completeness(id)", "sum(id)"]) == []
    with setting(spark, SWITCH, "False"):
        assert find_reason(frame) == f"{SWITCH} is false"


@pytest.mark.parametrize(
    ("name", "value", "predicate"),
    [
        ("spark.sql.ansi.enabled", "false", "single = 16777217"),
        ("spark.sql.ansi.enabled", "true", "single = 16777217"),
        ("spark.sql.parser.escapedStringLiterals", "true", r"word = 'a\tb'"),
        ("spark.sql.parser.escapedStringLiterals", "false", r"word = 'a\tb'"),
        ("spark.sql.ansi.enabled", "true", 'word = "other"'),
        ("spark.sql.ansi.enabled", "true", f"wide IN (0, {', '.join(map(str, range(2, 13)))})"),
    ],
)
def test_predicates_mean_the_same_under_every_setting(
    spark: SparkSession, tmp_path: Path, name: str, value: str, predicate: str
) -> None:
    table = {
        "single": pa.array([16777216.0, 1.0, 2.0], pa.float32()),
        "wide": [-0.0, 1.0, 2.0],
        "word": ["a\tb", r"a\tb", "other"],
        "other": ["x", r"a\tb", "y"],
    }
    write_files(tmp_path, pa.table(table))
    frame = spark.read.parquet(str(tmp_path))
    with setting(spark, name, value):
        assert find_differences(frame, [hg.Compliance(predicate), hg.Mean("wide", where=predicate)]) == []
        assert find_differences(frame.where(predicate), ["size()"]) == []


def test_texts_that_spark_pads_are_left_to_it(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE padded (code CHAR(5), free VARCHAR(5)) USING parquet")
    try:
        spark.sql("INSERT INTO padded VALUES ('a', 'a'), ('bb', 'bb')")
        frame = spark.table("padded")
        for value in ("true", "false"):
            with setting(spark, "spark.sql.readSideCharPadding", value):
                assert find_reason(frame, [hg.Compliance("code = 'a'")]) != ""
                assert find_differences(frame, [hg.Compliance("code = 'a'"), hg.Compliance("free = 'a'")]) == []
                assert find_reason(frame.select("free")) == ""
    finally:
        spark.sql("DROP TABLE padded")


@pytest.mark.parametrize("by", [None, ["word"]])
def test_files_without_a_row_that_meets_the_condition(
    spark: SparkSession, tmp_path: Path, jobs: CountJobs, by: list[str] | None
) -> None:
    write_files(tmp_path, *(pa.table({"id": [at, at + 10], "word": ["a", "b"]}) for at in (1, 5)))
    for condition in ("id = 5", "id = -5"):
        frame = spark.read.parquet(str(tmp_path)).where(condition)
        metrics = ["size()", "approx_quantile(id, q=0.5)", "value_distribution(word)"]
        assert find_reason(frame, metrics) == ""
        with jobs() as started:
            hg.analyze(frame, metrics, by=by)
        assert len(started) == 1
        assert find_differences(frame, metrics, by=by) == []


def test_a_file_without_a_byte_is_no_file(spark: SparkSession, tmp_path: Path, jobs: CountJobs) -> None:
    write_files(tmp_path, pa.table({"id": [1, 2]}))
    (tmp_path / "part-9.parquet").touch()
    frame = spark.read.schema("id bigint").parquet(str(tmp_path))
    with jobs() as started:
        assert hg.analyze(frame, ["size()"]).value("size()") == 2
    assert len(started) == 1


def test_a_table_that_is_always_refused_costs_no_job(spark: SparkSession, tmp_path: Path, jobs: CountJobs) -> None:
    write_files(tmp_path, pa.table({"id": pa.array([1, 2], pa.int32()), "word": ["a", "b"]}))
    frame = spark.read.schema("id bigint, word string").parquet(str(tmp_path))
    assert find_reason(frame) == "'id' is bigint for Spark, and stored as int"
    assert find_reason(frame, [hg.Completeness("word")]) == ""
    with jobs() as started:
        hg.analyze(frame)
    assert len(started) == 1


def test_spark_reads_what_executors_were_lost_over(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, pa.table({"id": [1, 2]}))
    run, ways = engine._run, []

    def lose_executors(*given: Any, **named: Any) -> Any:
        files = named.get("files") or given[-1]
        ways.append(isinstance(files, parquet_files.ParquetFiles))
        if ways[-1]:
            raise RuntimeError("ExecutorLostFailure (executor 1 exited): Container from a bad node, exit code 137")
        return run(*given, **named)

    monkeypatch.setattr(engine, "_run", lose_executors)
    assert hg.analyze(spark.read.parquet(str(tmp_path)), ["size()"]).value("size()") == 2
    assert ways == [True, False]


def test_long_texts_are_read_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    texts = [rng.bytes(20_000).hex() for _ in range(40)]
    write_files(tmp_path, pa.table({"text": texts, "again": texts[:2] * 20, "id": list(range(40))}), row_group_size=10)
    monkeypatch.setattr(parquet_files, "_MOST_BYTES", 200_000)
    file = pq.ParquetFile(tmp_path / "part-0.parquet")
    assert parquet_files._limit_rows(file, range(4), ["text", "id"]) == 4
    assert parquet_files._limit_rows(file, range(4), ["id"]) > 40
    schema = parquet_files.StoredSchema(file)
    # decoded, a few long texts would take the memory of many
    assert "again" in parquet_files._list_coded(file, schema, range(4), ["text", "again"])
