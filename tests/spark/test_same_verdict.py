"""A batch that Spark reads, split and shuffled, is judged as the local engine judges it, to the last limit."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

import headgate as hg
from tests.same_verdict.judge import judge_all, read_with_spark

DAYS = 10
TABLES = ("orders", "visits")


def test_programs_and_verdicts_are_those_of_the_local_engine(tmp_path: Path, spark: SparkSession) -> None:
    local = judge_all(hg.open_store("memory:"), lambda table: table, DAYS, TABLES)
    assert judge_all(hg.open_store("memory:"), read_with_spark(tmp_path, spark), DAYS, TABLES) == local
    assert sum("clauses from" in each["program"] for each in local) >= 2 * len(TABLES)
