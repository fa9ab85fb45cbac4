"""Profiles and suggestions on Spark: few jobs, and what the local engine says of the same rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from headgate.learn.rules.profile import profile
from headgate.learn.rules.split import split_rows
from headgate.learn.rules.suggest import draft_suggestions, suggest
from tests.spark.conftest import CountJobs

ROWS = 12_000
COLUMNS = [
    "id",
    "cast(id as string) as text_id",
    "if(id % 3 = 0, null, id % 7) as weekday",
    "concat('A-', lpad(cast(id % 4000 as string), 5, '0')) as code",
    "element_at(array('EU', 'US', 'it''s', 'back\\\\slash'), cast(id % 4 + 1 as int)) as region",
    "cast(id * 0.01 as decimal(12, 2)) as price",
    "date_add(date'2026-01-01', cast(id % 300 as int)) as day",
    "id % 2 = 0 as flag",
    "array(id) as list",
    "id % 5 as `odd ``name``. of`",
]


KINDS = [
    pa.int64(),
    pa.string(),
    pa.int64(),
    pa.string(),
    pa.string(),
    pa.decimal128(12, 2),
    pa.date32(),
    pa.bool_(),
    pa.list_(pa.int64()),
    pa.int64(),
]


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest, spark: SparkSession, connect: Any) -> Any:
    return spark if request.param == "classic" else connect


def orders(session: Any) -> Any:
    return session.range(0, ROWS, 1, 4).selectExpr(*COLUMNS)


def test_a_profile_is_one_job(session: Any, jobs: CountJobs) -> None:
    with jobs() as started:
        found = profile(orders(session))
    assert len(started) == 1
    assert found.rows == ROWS
    assert len(found.schema.columns) == len(COLUMNS) + 2  # the array has a size and elements


def test_a_profile_of_two_thousand_columns_is_one_job(spark: SparkSession, jobs: CountJobs) -> None:
    wide = spark.range(0, 100, 1, 2).selectExpr(
        *(f"cast((id * {at + 1}) % 97 as string) as c{at}" for at in range(2_000))
    )
    with jobs() as started:
        found = profile(wide)
    assert len(started) == 1
    assert found["c1999"].looks_like == "integral"
    assert len(found) == 2_000


def test_suggestions_are_two_jobs_and_all_hold(session: Any, jobs: CountJobs) -> None:
    with jobs() as started:
        found = suggest(orders(session), "orders", sample=0.4)
    assert len(started) == 2
    assert found.training + found.held_out == ROWS
    assert 0.35 < found.training / ROWS < 0.45
    assert {each.coverage for each in found} == {1.0}
    assert {each.by for each in found} >= {"categorical", "complete", "completeness", "data_type", "pattern", "unique"}


def test_spark_and_the_local_engine_suggest_the_same_from_the_same_rows(session: Any) -> None:
    training = split_rows(orders(session), 0.4, 7).training
    columns = zip(*training.collect(), strict=True)
    arrays = [pa.array(values, kind) for values, kind in zip(columns, KINDS, strict=True)]
    there, here = profile(training), profile(pa.Table.from_arrays(arrays, training.columns))
    assert draft_suggestions(there, "orders") == draft_suggestions(here, "orders")
    assert len(draft_suggestions(there)) > len(COLUMNS)


def test_the_sample_is_the_same_in_both_jobs_and_not_cut_by_the_datas_own_numbers(session: Any) -> None:
    unlucky = session.range(0, ROWS, 1, 3).selectExpr("if(rand(3) < 0.9, id, null) as x")
    found = suggest(unlucky, sample=0.5, seed=3)
    (completeness,) = [each for each in found if each.by == "completeness"]
    assert f"of {found.training:,} values" in completeness.why


def test_a_column_with_the_name_of_the_mark_is_no_trouble(spark: SparkSession) -> None:
    frame = spark.range(0, 6_000, 1, 2).selectExpr("id as HEADGATE_training", "id as `id`")
    assert {each.coverage for each in suggest(frame, sample=0.5)} == {1.0}
