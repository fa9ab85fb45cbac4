"""NaN and infinities on Spark, which takes NaN for the greatest number: the same as on the local engine."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import headgate as hg
from headgate.values.verdict import Verdict
from tests.checks.odd_numbers import BOUNDS, ROW_RULES, pairs, rows_beyond

CHECKS = {
    **{name: rule.check for name, rule in ROW_RULES.items()},
    **{name: check for name, (check, _) in BOUNDS.items()},
}


@pytest.fixture(scope="module")
def frame(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = Path(tmp_path_factory.mktemp("odd")) / "pairs.parquet"
    pq.write_table(pairs(), path)
    return spark.read.parquet(str(path)).repartition(3)


def named_checks() -> list[hg.Check]:
    return [hg.Check(name, rules=check.rules) for name, check in CHECKS.items()]


@pytest.fixture(scope="module")
def verdicts(frame: DataFrame) -> dict[str, Verdict]:
    """One scan for all rules."""
    return dict(hg.verify(frame, named_checks()).checks)


def failing_rows(frame: DataFrame, check: hg.Check) -> list[int]:
    return sorted(row.row for row in hg.verify(frame, check).rows(frame).select("row").collect())


@pytest.mark.parametrize("name", ROW_RULES)
def test_a_rule_of_rows_fails_for_nan_and_compares_infinities(
    frame: DataFrame, verdicts: dict[str, Verdict], name: str
) -> None:
    (judgement,) = verdicts[name].judgements
    assert judgement.value == pytest.approx(ROW_RULES[name].share()), judgement.reason
    assert failing_rows(frame, ROW_RULES[name].check) == ROW_RULES[name].failing_rows()


@pytest.mark.parametrize("name", BOUNDS)
def test_the_rows_beyond_a_bound_are_infinite_ones_too_but_not_nan(
    frame: DataFrame, verdicts: dict[str, Verdict], name: str
) -> None:
    check, is_within = BOUNDS[name]
    (judgement,) = verdicts[name].judgements
    assert "infinity, expected" in judgement.reason
    assert failing_rows(frame, check) == rows_beyond(is_within)


def test_every_verdict_is_that_of_the_local_engine(verdicts: dict[str, Verdict]) -> None:
    for name, verdict in hg.verify(pairs(), named_checks()).checks.items():
        assert verdicts[name].judgements == verdict.judgements


def test_the_capitals_of_a_column_do_not_hide_its_nan(frame: DataFrame) -> None:
    (judgement,) = hg.verify(frame, hg.Check("x").is_positive("A")).judgements
    assert judgement.value == pytest.approx(ROW_RULES["is_positive"].share())


def test_a_rule_of_dates_is_not_asked_for_nan(frame: DataFrame) -> None:
    verdict = hg.verify(frame, hg.Check("x").is_greater_than_or_equal_to("when", "when").is_in_range("row", low=0))
    assert verdict.passed, verdict.explain()
