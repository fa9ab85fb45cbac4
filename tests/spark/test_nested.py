"""Places inside nested columns on Spark: what the local engine finds, classic and Connect, in one job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from pyspark.sql import SparkSession

import headgate as hg
from headgate.values.outcome import Failed
from tests.engine.orders import ORDERS
from tests.engine.test_nested import CHECK
from tests.spark.agreement import differences
from tests.spark.conftest import CountJobs

ASKED = [
    'mean(items[].price) where "id < 4"',
    'compliance(predicate="`items[].price` > 0") where "`items[].price` IS NOT NULL"',
    'compliance(predicate="`items[].price` > id") where "id > 0 -- all"',
    "compliance(predicate=\"address.city = 'Rome'\")",
    "compliance(predicate=\"`address.city` = 'Rome'\")",
    "uniqueness(items[].tags[])",
]
RELEASE = tuple(int(part) for part in pyspark.__version__.split(".")[:2])


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = Path(tmp_path_factory.mktemp("nested")) / "orders.parquet"
    pq.write_table(pa.concat_tables([ORDERS] * 5), path)
    return str(path)


@pytest.mark.parametrize("way", ["classic", "connect"])
def test_both_engines_measure_the_same(
    spark: SparkSession, connect: Any, stored: str, jobs: CountJobs, way: str
) -> None:
    session = spark if way == "classic" else connect
    data = session.read.schema(spark.read.parquet(stored).schema).parquet(stored)
    table = pq.read_table(stored)
    asked = [*hg.analyze(table).metrics, *hg.analyze(table, ASKED).metrics]
    with jobs() as started:
        found = hg.analyze(data, asked)
    assert len(started) == 1
    local = hg.analyze(table, asked)
    assert found.schema.labels == local.schema.labels
    assert [(each.kind, each.parent, each.repeated) for each in found.schema.columns] == [
        (each.kind, each.parent, each.repeated) for each in local.schema.columns
    ]
    assert not [key for key, outcome in found.items() if isinstance(outcome, Failed)]
    assert differences(found, local, list(found.metrics)) == []


@pytest.mark.parametrize("way", ["classic", "connect"])
def test_both_engines_find_the_same_rows(spark: SparkSession, connect: Any, stored: str, way: str) -> None:
    data = (spark if way == "classic" else connect).read.parquet(stored).filter("id > 0").limit(4)
    rows = {}
    for name, batch in {"spark": data, "local": ORDERS}.items():
        failing = hg.verify(batch, CHECK).rows(batch)
        found = failing.collect() if name == "spark" else failing.to_pylist()
        rows[name] = {
            row["id"]: [tuple(dict(_as_dict(each)).items()) for each in row["headgate_reasons"]] for row in found
        }
    assert rows["spark"] == rows["local"]
    good, bad = hg.verify(data, CHECK).split(data)
    assert (good.columns, bad.columns) == (data.columns, [*data.columns, "headgate_reasons"])


def _as_dict(reason: Any) -> dict[str, Any]:
    return reason if isinstance(reason, dict) else reason.asDict()


def test_parts_by_a_place(spark: SparkSession, stored: str) -> None:
    parts = hg.analyze(spark.read.parquet(stored), ["mean(items[].price)"], by="address.city")
    assert parts.view(**{"address.city": "Oslo"}).value("mean(items[].price)") == -3.0


def test_a_place_that_is_not_read_is_not_in_the_plan(spark: SparkSession, stored: str) -> None:
    """Spark reads the one leaf of a Parquet file that a metric needs."""
    from headgate.engine.spark_frame import read_schema
    from headgate.engine.spark_nested import add_places

    data = spark.read.parquet(stored)
    schema, paths = read_schema(data)
    place = add_places(data, schema, paths, [schema.positions()["address.geo.lat"]])
    plan = place.selectExpr("`address.geo.lat`")._jdf.queryExecution().executedPlan().toString()
    assert "ReadSchema: struct<address:struct<geo:struct<lat:double>>>" in plan


def test_intervals_are_read_as_numbers(spark: SparkSession) -> None:
    data = spark.sql(
        "SELECT * FROM VALUES "
        "(INTERVAL '2 03:00:01.5' DAY TO SECOND, INTERVAL '1-2' YEAR TO MONTH, INTERVAL '7' HOUR), "
        "(INTERVAL '-1' DAY, NULL, NULL) AS t(wait, term, shift)"
    )
    keys = ["max(wait.seconds())", "min(wait.seconds())", "max(term.months())", "max(shift.seconds())"]
    found = hg.analyze(data, keys)
    assert [found.value(key) for key in keys] == [2 * 86_400 + 3 * 3_600 + 1.5, -86_400.0, 14.0, 25_200.0]
    check = hg.Check("waits").has_min("wait.seconds()", at_least=0)
    (row,) = hg.verify(data, check).rows(data).selectExpr("headgate_reasons").collect()  # PySpark reads no months
    assert row["headgate_reasons"][0]["value"] == "-86400.0"


@pytest.mark.skipif(RELEASE < (4, 1), reason="this Spark has no TIME")
def test_times_of_day_are_read_in_seconds(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.timeType.enabled", "true")
    data = spark.sql("SELECT * FROM VALUES (TIME '09:30:00.25'), (NULL) AS t(opens)")
    found = hg.analyze(data, ["max(opens.seconds())", "completeness(opens)"])
    assert [found.value(key) for key in found] == [34_200.25, 0.5]
    verdict = hg.verify(data, hg.Check("shops").has_max("opens.seconds()", at_most=30_000))
    (row,) = verdict.rows(data).selectExpr("headgate_reasons").collect()
    assert row["headgate_reasons"][0]["value"] == "34200.25"


@pytest.mark.skipif(RELEASE < (4, 0), reason="this Spark has no VARIANT")
def test_variants_are_read_as_json(spark: SparkSession) -> None:
    data = spark.sql("SELECT parse_json(j) AS v FROM VALUES ('{\"a\": 1}'), ('[2]'), (NULL) AS t(j)")
    found = hg.analyze(data, ["completeness(v)", "max_length(v.json())", "approx_count_distinct(v.json())"])
    assert [found.value(key) for key in found] == [pytest.approx(2 / 3), 7.0, 2.0]
    verdict = hg.verify(data, hg.Check("events").is_contained_in("v.json()", ["[2]"]))
    (row,) = verdict.rows(data).selectExpr("headgate_reasons").collect()
    assert row["headgate_reasons"][0]["value"] == '{"a":1}'


@pytest.mark.skipif(RELEASE < (4, 0), reason="this Spark has no collations")
def test_texts_are_equal_if_their_collation_says_so(spark: SparkSession) -> None:
    data = spark.sql(
        "SELECT s, s COLLATE UTF8_LCASE AS c, s COLLATE UNICODE_CI AS u FROM VALUES ('Ab'), ('aB'), ('x') AS t(s)"
    )
    keys = ["count_distinct(s)", "count_distinct(c)", "count_distinct(u)", "approx_count_distinct(c)"]
    found = hg.analyze(data, keys)
    assert [found.value(key) for key in keys] == [3.0, 2.0, 2.0, 2.0]
    assert data.selectExpr("count(DISTINCT c)", "count(DISTINCT u)").first() == (2, 2)


def test_decimals_of_38_digits_are_told_apart(spark: SparkSession) -> None:
    one = "12345678901234567890123456789012345678"
    data = spark.sql(f"SELECT CAST(d AS DECIMAL(38, 0)) AS d FROM VALUES ({one}), ({one[:-1]}9), ({one}) AS t(d)")
    found = hg.analyze(data, ["count_distinct(d)", "uniqueness(d)", "approx_count_distinct(d)", "max(d)"])
    assert [found.value(key) for key in found] == [2.0, pytest.approx(1 / 3), 2.0, float(one)]
