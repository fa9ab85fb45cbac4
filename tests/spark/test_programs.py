"""Programs from runs that Spark measured: learned and judged without a job, beyond the scan of each batch."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

import headgate as hg
from tests.spark.conftest import CountJobs

ROWS = 600
COLUMNS = [
    "id",
    "id % 50 + {day} % 3 as price",
    "element_at(array('EU', 'US', 'JP'), cast(id % 3 + 1 as int)) as region",
]


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest, spark: SparkSession, connect: Any) -> Any:
    return spark if request.param == "classic" else connect


def batch(session: Any, day: int, rows: int = ROWS) -> Any:
    return session.range(0, rows + day % 5, 1, 2).selectExpr(*(each.format(day=day) for each in COLUMNS))


def test_a_history_that_spark_measured_judges_the_next_batch(session: Any, jobs: CountJobs) -> None:
    past = hg.Past.of([hg.analyze(batch(session, day)) for day in range(8)])
    today = hg.analyze(batch(session, 9))
    nulls = hg.analyze(batch(session, 9).selectExpr("id", "price", "if(id > 5, null, region) as region"))
    renamed = hg.analyze(batch(session, 9).withColumnRenamed("region", "area"))
    tenth = hg.analyze(batch(session, 9, rows=ROWS // 10))
    with jobs() as counted:
        program = hg.learn_program(past, false_alarms=0.05)
        verdicts = [program.judge(each, past) for each in (today, nulls, renamed, tenth)]
    assert not counted
    assert [each.status for each in verdicts] == [hg.Status.PASS, hg.Status.FAIL, hg.Status.FAIL, hg.Status.FAIL]
    assert [str(each.expectation.metric) for each in verdicts[2].failures] == ["has_column(region)"]
    assert any(each.expectation.metric.columns == ("region",) for each in verdicts[1].failures)
