"""Each line of catalogues B and N is a test, on the local engine and on Spark."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.catalogue import CASES, Case, Engine, Local, Spark

EACH = [(each, engine) for each in CASES for engine in each.engines]


@pytest.fixture(scope="module")
def engines(spark: SparkSession) -> dict[str, Engine]:
    return {"local": Local(), "spark": Spark(spark)}


@pytest.mark.parametrize(("each", "engine"), EACH, ids=[f"{each}-{engine}" for each, engine in EACH])
def test_bad_input_gives_the_right_metric_or_an_outcome_that_says_why(
    engines: dict[str, Engine], each: Case, engine: str
) -> None:
    assert each.run(engines[engine])
