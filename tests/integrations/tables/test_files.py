"""Tasks that read the files of Iceberg and Delta tables give what Spark gives, or leave them to Spark."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headgate as hg
from headgate.engine import spark_iceberg
from headgate.engine.spark_file_list import ListedFile
from tests.integrations.tables.conftest import THROUGH_CONNECT
from tests.spark.jobs import count_jobs
from tests.spark.samples import sample
from tests.spark.test_spark_files import find_differences, find_reason, metrics_of_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.skipif(THROUGH_CONNECT, reason="Spark Connect does not show which files a query reads")

_numbers = itertools.count()
FORMATS = {"iceberg": "lake.files.t", "delta": "files"}
MERGE_ON_READ = "TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')"
Make = Callable[..., str]


@pytest.fixture
def table(spark: SparkSession) -> Iterator[Make]:
    """A function that makes a table of a format with columns, and gives its name."""
    made = []

    def make(form: str, columns: str, more: str = "") -> str:
        name = f"{FORMATS[form]}{next(_numbers)}"
        spark.sql(f"CREATE TABLE {name} ({columns}) USING {form} {more}")
        made.append(name)
        return name

    yield make
    for name in made:
        spark.sql(f"DROP TABLE IF EXISTS {name}")


def assert_read_by_tasks(frame: DataFrame) -> None:
    assert find_reason(frame) == ""
    assert find_differences(frame) == []


def assert_left_to_spark(frame: DataFrame, why: str) -> None:
    assert why in find_reason(frame)
    assert find_differences(frame) == []


def insert(spark: SparkSession, name: str, *columns: str, rows: int = 100) -> None:
    spark.sql(f"INSERT INTO {name} SELECT {', '.join(columns)} FROM range({rows})")


@pytest.mark.parametrize("form", FORMATS)
def test_every_metric_of_every_type_is_equal(spark: SparkSession, table: Make, form: str) -> None:
    frame = spark.createDataFrame(sample())
    kinds = {"tinyint": "int", "smallint": "int"} if form == "iceberg" else {}
    types = {field.name: field.dataType.simpleString() for field in frame.schema}
    columns = ", ".join(f"{name} {kinds.get(kind, kind)}" for name, kind in types.items())
    name = table(form, columns)
    frame.repartition(3).writeTo(name).append()
    read = spark.table(name)
    metrics = metrics_of_files(read)
    assert find_reason(read, metrics) == ""
    assert find_differences(read, metrics) == []


@pytest.mark.parametrize("form", FORMATS)
def test_queries_of_a_partitioned_table(spark: SparkSession, table: Make, form: str) -> None:
    name = table(form, "id BIGINT, day STRING, text STRING", "PARTITIONED BY (day)")
    for _ in range(2):
        insert(spark, name, "id", "concat('a/b=', id % 3)", "concat('t', id)")
    whole = spark.table(name)
    for frame in (
        whole,
        whole.where("day = 'a/b=1'"),
        whole.where("day = 'a/b=1' AND id > 10"),
        whole.where("day = 'none'"),
        whole.select("text", "day"),
        spark.sql(f"SELECT text AS t, id FROM {name} WHERE text IS NOT NULL"),
    ):
        assert_read_by_tasks(frame)
    assert find_differences(whole, ["size()", "mean(id)"], by="day") == []
    assert_left_to_spark(whole.limit(10), "no plain scan")
    assert_left_to_spark(whole.selectExpr("id + 1 AS more"), "Spark computes")
    assert hg.analyze(whole).value("size()") == 200


@pytest.mark.parametrize("form", FORMATS)
def test_a_scan_starts_no_more_jobs_than_spark_would(spark: SparkSession, table: Make, form: str) -> None:
    name = table(form, "id BIGINT, text STRING")
    insert(spark, name, "id", "'t'")
    frame = spark.table(name)
    hg.analyze(frame)
    with count_jobs(spark) as plain:
        frame.write.format("noop").mode("overwrite").save()
    with count_jobs(spark) as ours:
        hg.analyze(frame)
    assert len(ours) <= len(plain)


@pytest.mark.parametrize("form", FORMATS)
def test_columns_that_were_added_are_null_before(spark: SparkSession, table: Make, form: str) -> None:
    name = table(form, "id BIGINT")
    insert(spark, name, "id")
    spark.sql(f"ALTER TABLE {name} ADD COLUMNS (text STRING, numbers ARRAY<INT>)")
    assert_read_by_tasks(spark.table(name))
    insert(spark, name, "id", "'t'", "array(1, 2)")
    assert_read_by_tasks(spark.table(name))
    assert hg.analyze(spark.table(name)).value("completeness(text)") == 0.5


@pytest.mark.parametrize("form", FORMATS)
def test_earlier_snapshots_are_read_as_they_were(spark: SparkSession, table: Make, form: str) -> None:
    name = table(form, "id BIGINT")
    insert(spark, name, "id")
    history = f"SELECT snapshot_id FROM {name}.snapshots" if form == "iceberg" else f"DESCRIBE HISTORY {name}"
    version = max(row[0] for row in spark.sql(history).collect())
    insert(spark, name, "id")
    then = spark.sql(f"SELECT * FROM {name} VERSION AS OF {version}")
    assert_read_by_tasks(then)
    assert hg.analyze(then).value("size()") == 100


def test_an_iceberg_column_is_found_by_its_id(spark: SparkSession, table: Make) -> None:
    name = table("iceberg", "id BIGINT, text STRING, other STRING, place STRUCT<city: STRING, zip: INT>")
    insert(spark, name, "id", "'before'", "'gone'", "named_struct('city', 'Oslo', 'zip', 1)")
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN text TO words")
    spark.sql(f"ALTER TABLE {name} DROP COLUMN other")
    spark.sql(f"ALTER TABLE {name} ADD COLUMN other STRING")
    spark.sql(f"ALTER TABLE {name} ADD COLUMN text STRING FIRST")
    assert_read_by_tasks(spark.table(name))
    analysis = hg.analyze(spark.table(name))
    shares = {each: analysis.value(f"completeness({each})") for each in ("words", "other", "text")}
    assert shares == {"words": 1.0, "other": 0.0, "text": 0.0}


@pytest.mark.parametrize(
    "changes",
    [["DROP COLUMN place.zip", "ADD COLUMN place.zip INT"], ["RENAME COLUMN place.zip TO code"]],
    ids=["added anew", "renamed"],
)
def test_fields_that_have_other_ids_than_in_the_files_are_left_to_spark(
    spark: SparkSession, table: Make, changes: list[str]
) -> None:
    name = table("iceberg", "id BIGINT, place STRUCT<city: STRING, zip: INT>")
    insert(spark, name, "id", "named_struct('city', 'Oslo', 'zip', 1)")
    for change in changes:
        spark.sql(f"ALTER TABLE {name} {change}")
    assert find_reason(spark.table(name)) != ""
    assert find_differences(spark.table(name)) == []


def test_iceberg_columns_with_wider_types_are_equal(spark: SparkSession, table: Make) -> None:
    name = table("iceberg", "id INT, price FLOAT")
    insert(spark, name, "id", "id")
    spark.sql(f"ALTER TABLE {name} ALTER COLUMN id TYPE BIGINT")
    insert(spark, name, "id", "id")
    assert find_differences(spark.table(name)) == []


def test_iceberg_partitions_by_transforms_are_read(spark: SparkSession, table: Make) -> None:
    partitions = "PARTITIONED BY (days(moment), bucket(4, id), truncate(2, text))"
    name = table("iceberg", "id BIGINT, moment TIMESTAMP, text STRING", partitions)
    insert(spark, name, "id", "timestamp_seconds(id * 40000)", "concat('text', id % 9)")
    assert_read_by_tasks(spark.table(name))
    assert_read_by_tasks(spark.table(name).where("moment < TIMESTAMP'1970-01-10'").select("id"))


def test_days_before_the_gregorian_calendar_are_those_of_iceberg(spark: SparkSession, table: Make) -> None:
    name = table("iceberg", "id BIGINT, day DATE")
    insert(spark, name, "id", "DATE'0099-01-01'")
    assert_read_by_tasks(spark.table(name))


def test_iceberg_rows_that_were_deleted_are_left_to_spark(spark: SparkSession, table: Make) -> None:
    name = table("iceberg", "id BIGINT", MERGE_ON_READ)
    insert(spark, name, "id")
    assert_read_by_tasks(spark.table(name))
    spark.sql(f"DELETE FROM {name} WHERE id = 3")
    assert_left_to_spark(spark.table(name), "rows of a file are deleted")
    assert hg.analyze(spark.table(name)).value("size()") == 99


@pytest.mark.parametrize("form", ["orc", "avro"])
def test_iceberg_files_of_other_formats_are_left_to_spark(spark: SparkSession, table: Make, form: str) -> None:
    name = table("iceberg", "id BIGINT", f"TBLPROPERTIES ('write.format.default' = '{form}')")
    insert(spark, name, "id")
    assert_left_to_spark(spark.table(name), f"a file is {form.upper()}")


def test_iceberg_facts_about_rows_are_left_to_spark(spark: SparkSession, table: Make) -> None:
    name = table("iceberg", "id BIGINT")
    insert(spark, name, "id")
    assert_left_to_spark(spark.sql(f"SELECT id, _file FROM {name}"), "Spark knows the values of '_file'")
    assert_left_to_spark(spark.table(f"{name}.files"), "")


def test_defaults_of_iceberg_columns_are_left_to_spark(spark: SparkSession, table: Make) -> None:
    name = table("iceberg", "id BIGINT", "TBLPROPERTIES ('format-version' = '3')")
    insert(spark, name, "id")
    jvm = spark._jvm
    loaded = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, name)
    kind = jvm.org.apache.iceberg.types.Types.StringType.get()
    value = jvm.org.apache.iceberg.expressions.Literal.of("none")
    loaded.updateSchema().addColumn("state", kind, value).commit()
    spark.sql(f"REFRESH TABLE {name}")
    assert_left_to_spark(spark.table(name), "Spark knows the values of 'state'")


def test_files_that_iceberg_did_not_write_are_left_to_spark(spark: SparkSession, table: Make, tmp_path: Path) -> None:
    """Such files have no ids, and columns by which they are partitioned are in no file."""
    folder = tmp_path / "imported"
    spark.range(50).selectExpr("id", "id % 2 AS half").write.partitionBy("half").parquet(str(folder))
    name = table("iceberg", "id BIGINT, half BIGINT", "PARTITIONED BY (half)")
    catalogue = name.partition(".")[0]
    spark.sql(f"CALL {catalogue}.system.add_files(table => '{name}', source_table => '`parquet`.`{folder}`')")
    assert find_reason(spark.table(name)) == "a file has no ids of fields"
    assert find_differences(spark.table(name)) == []
    insert(spark, name, "id", "id % 2")
    assert find_differences(spark.table(name)) == []
    assert hg.analyze(spark.table(name)).value("completeness(half)") == 1.0


def test_a_file_that_an_iceberg_table_has_twice_is_left_to_spark(spark: SparkSession, table: Make) -> None:
    name = table("iceberg", "id BIGINT")
    insert(spark, name, "id")
    loaded = spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, name)
    tasks = loaded.newScan().planFiles().iterator()
    again = loaded.newAppend()
    while tasks.hasNext():
        again = again.appendFile(tasks.next().file())
    again.commit()
    spark.sql(f"REFRESH TABLE {name}")
    assert find_differences(spark.table(name)) == []
    assert hg.analyze(spark.table(name)).value("size()") == 200


def test_files_of_several_row_groups_are_read_once(spark: SparkSession, table: Make) -> None:
    sizes = "TBLPROPERTIES ('write.parquet.row-group-size-bytes' = '20000', 'read.split.target-size' = '30000')"
    name = table("iceberg", "id BIGINT, text STRING", sizes)
    spark.sql(f"INSERT INTO {name} SELECT id, concat(id, '-', rand()) FROM range(0, 20000, 1, 1)")
    assert_read_by_tasks(spark.table(name))
    assert hg.analyze(spark.table(name)).value("size()") == 20_000


def test_an_iceberg_table_without_rows(spark: SparkSession, table: Make) -> None:
    name = table("iceberg", "id BIGINT")
    assert find_differences(spark.table(name)) == []
    assert hg.analyze(spark.table(name)).value("size()") == 0


@pytest.mark.parametrize(
    ("location", "place", "path"),
    [
        ("/a/b c/day=x%2Fy", ("hdfs", "name:8020"), "/a/b c/day=x%2Fy"),
        ("file:/a/b?c#d", ("file", ""), "/a/b?c#d"),
        ("file:///a/b", ("file", ""), "/a/b"),
        ("s3a://bucket/a/b=1/c.parquet", ("s3a", "bucket"), "/a/b=1/c.parquet"),
    ],
)
def test_a_location_is_a_scheme_a_host_and_a_path(location: str, place: tuple[str, str], path: str) -> None:
    from urllib.parse import urlsplit

    found = spark_iceberg._list_file(location, 7, urlsplit("hdfs://name:8020"))
    assert isinstance(found, ListedFile)
    assert (found.place, found.part.path, found.size) == (place, path, 7)


def test_delta_rows_that_were_deleted_are_left_to_spark(spark: SparkSession, table: Make) -> None:
    name = table("delta", "id BIGINT", "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    insert(spark, name, "id")
    assert_read_by_tasks(spark.table(name))
    spark.sql(f"DELETE FROM {name} WHERE id = 3")
    assert_left_to_spark(spark.table(name), "no plain scan")
    assert hg.analyze(spark.table(name)).value("size()") == 99


def test_delta_columns_that_were_renamed_are_left_to_spark(spark: SparkSession, table: Make) -> None:
    name = table("delta", "id BIGINT, text STRING", "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    insert(spark, name, "id", "'t'")
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN text TO words")
    assert find_reason(spark.table(name)) != ""
    assert find_differences(spark.table(name)) == []


def test_delta_types_that_were_widened_are_equal(spark: SparkSession, table: Make) -> None:
    name = table("delta", "id INT", "TBLPROPERTIES ('delta.enableTypeWidening' = 'true')")
    insert(spark, name, "CAST(id AS INT)")
    spark.sql(f"ALTER TABLE {name} ALTER COLUMN id TYPE BIGINT")
    insert(spark, name, "id + 5000000000")
    assert find_differences(spark.table(name)) == []


def test_changes_of_a_delta_table_are_left_to_spark(spark: SparkSession, table: Make) -> None:
    name = table("delta", "id BIGINT", "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    insert(spark, name, "id")
    spark.sql(f"UPDATE {name} SET id = 7 WHERE id = 3")
    changes = spark.sql(f"SELECT * FROM table_changes('{name}', 0)")
    assert find_reason(changes) != ""
    assert find_differences(changes) == []
