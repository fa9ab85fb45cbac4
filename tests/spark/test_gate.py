"""The gate over Spark: one job for a batch with all learners, and the verdict that the local engine reaches."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

import headgate as hg
from headgate.checks.check import Check
from headgate.gate.gate import Gate
from headgate.values.account import Action
from tests.gate.orders import dearer, elsewhere, emptied, gate_after, judged, named, orders
from tests.spark.conftest import CountJobs

DAYS = 9
CHECKS = Check("orders").is_complete("id").is_unique("id").has_mean("price", between=(5, 5_000))


@pytest.fixture
def gate() -> Gate:
    return gate_after(DAYS, checks=CHECKS, false_alarms=0.1)


def frame(session: SparkSession, day: int) -> DataFrame:
    """A day as Spark is given it: a frame that shuffles nothing of its own."""
    return session.createDataFrame(orders(day).to_pandas())


def statuses(gate: Gate, partition: str) -> dict[str, str]:
    return {str(each.expectation): each.status.value for each in gate.explain(partition).judgements}


def test_a_batch_with_all_learners_is_one_job(gate: Gate, spark: SparkSession, jobs: CountJobs) -> None:
    data = frame(spark, DAYS)
    with jobs() as started:
        verdict = gate.judge(data, named(DAYS))
    assert verdict.account.learners["novelty"] == f"1 expectation from {DAYS} runs"
    assert {each.expectation.source.value for each in verdict.judgements} >= {"declared", "history", "novelty"}
    assert len(started) == 1
    assert started[0].startswith("headgate: ")
    assert verdict.action is Action.PUBLISH


def test_an_input_that_was_judged_is_no_job_when_it_is_named(gate: Gate, spark: SparkSession, jobs: CountJobs) -> None:
    data = frame(spark, DAYS)
    first = gate.judge(data, named(DAYS), fingerprint="snapshot 7")
    with jobs() as started:
        again = gate.judge(data, named(DAYS), fingerprint="snapshot 7")
    assert started == []
    assert again.revision.key == first.revision.key


TABLES = {
    "good": orders(DAYS),
    "prices in cents": dearer(orders(DAYS)),
    "a country that never was": elsewhere(orders(DAYS)),
    "half a column": emptied(orders(DAYS), "country", 0.5),
    "few rows": orders(DAYS).slice(0, 12),
    "no country": orders(DAYS).drop_columns(["country"]),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_the_verdict_is_that_of_the_local_engine(table: object, gate: Gate, spark: SparkSession) -> None:
    data = spark.createDataFrame(table.to_pandas()).repartition(3)  # type: ignore[attr-defined]
    here = gate_after(DAYS, checks=CHECKS, false_alarms=0.1)
    far, near = gate.judge(data, named(DAYS)), judged(here, DAYS, table)  # type: ignore[arg-type]
    assert (far.status, far.action) == (near.status, near.action)
    assert statuses(gate, named(DAYS)) == statuses(here, named(DAYS))
    assert [each.title for each in far.causes] == [each.title for each in near.causes]


def test_the_same_rows_over_other_tasks_are_the_same_input(gate: Gate, spark: SparkSession) -> None:
    data = frame(spark, DAYS)
    numbers = [gate.judge(each, named(DAYS)).revision.number for each in (data, data.repartition(7), data.coalesce(1))]
    assert numbers == [1, 1, 1]


def test_a_job_that_breaks_holds_the_batch(gate: Gate, spark: SparkSession) -> None:
    broken = spark.range(0, 10, 1, 2).where("1 / (id - 5) > -9")
    verdict = gate.judge(broken, named(DAYS))
    assert (verdict.status, verdict.action) == (hg.Status.ERROR, Action.HOLD)
    assert gate.explain(named(DAYS)).decision is hg.Decision.HELD
