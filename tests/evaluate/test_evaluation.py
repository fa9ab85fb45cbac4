"""The one pipeline of checks: what is planned, what is measured in the one scan, what is judged."""

from __future__ import annotations

import pyarrow as pa
import pytest

from headgate.checks.check import Check
from headgate.engine.analyze import analyze
from headgate.engine.batch import Batch
from headgate.evaluate.context import BatchContext
from headgate.evaluate.evaluation import Evaluation, as_checks, open_input
from headgate.metrics.max import Max
from headgate.metrics.mean import Mean
from headgate.values.errors import MisuseError
from headgate.values.expectation import Status

ORDERS = pa.table({"id": [1, 2, 2], "price": [9.5, 3.0, None], "region": ["EU", "EU", "US"]})


def evaluate(*checks: Check) -> tuple[Evaluation, Batch]:
    batch = open_input(ORDERS)
    assert isinstance(batch, Batch)
    return Evaluation.of(checks, BatchContext(batch.schema)), batch


def test_every_rule_of_every_check_is_planned_with_its_metric_and_segments() -> None:
    evaluation, _ = evaluate(
        Check("one").is_unique("id").is_complete("price", by=["region"]), Check("two").has_mean("price", at_least=1)
    )
    planned = [(each.check, each.rule, each.by, str(each.metric)) for each in evaluation.planned]
    assert planned == [
        ("one", 0, (), "uniqueness(id)"),
        ("one", 1, ("region",), "completeness(price)"),
        ("two", 2, (), "mean(price)"),
    ]


def test_a_segment_column_that_is_gone_is_an_error_of_its_rule_and_is_not_scanned_for() -> None:
    evaluation, batch = evaluate(Check("orders").is_complete("id", by=["country"]).is_complete("id"))
    assert [by for by, _ in evaluation.metrics] == [()]
    gone, there = evaluation.judge(evaluation.measure(batch))
    assert (gone.judgement.status, there.judgement.status) == (Status.ERROR, Status.PASS)
    assert "country" in gone.judgement.reason


def test_other_metrics_come_out_of_the_same_scan() -> None:
    scans = 0
    evaluation, batch = evaluate(Check("orders").has_mean("price", at_least=1).is_complete("id", by=["region"]))

    def count_scans(*arguments: object) -> object:
        nonlocal scans
        scans += 1
        return batch.run(*arguments)  # type: ignore[arg-type]

    measurements = evaluation.measure(batch._replace(run=count_scans), also=[Max("price")])  # type: ignore[arg-type]
    assert measurements.whole.value("max(price)") == 9.5
    assert {part: found.value("completeness(id)") for part, found in measurements.segments(("region",)).items()} == {
        ("EU",): 1.0,
        ("US",): 1.0,
    }
    assert scans == 1


def test_an_analysis_is_judged_as_it_is() -> None:
    evaluation, _ = evaluate(Check("orders").has_mean("price", at_least=7))
    analysis = analyze(ORDERS, [Mean("price")])
    (judged,) = evaluation.judge(evaluation.measure(analysis))
    assert judged.judgement.status is Status.FAIL
    assert judged.judgement.value == 6.25


def test_an_analysis_has_no_segments() -> None:
    evaluation, _ = evaluate(Check("orders").is_complete("price", by=["region"]))
    with pytest.raises(MisuseError, match="Give the batch itself"):
        evaluation.measure(analyze(ORDERS, [Mean("price")]))


def test_data_an_analysis_or_a_function_that_reads_one_is_opened() -> None:
    analysis = analyze(ORDERS, [Mean("price")])
    assert open_input(analysis) is analysis
    assert open_input(lambda: analysis) is analysis
    assert open_input(lambda: ORDERS).schema.labels == ("id", "price", "region")


def test_one_check_or_many_are_a_list_and_anything_else_is_refused() -> None:
    check = Check("orders").is_unique("id")
    assert as_checks(check) == as_checks(iter([check])) == [check]
    with pytest.raises(MisuseError, match="is not a check"):
        as_checks(["is_unique(id)"])  # type: ignore[list-item]
