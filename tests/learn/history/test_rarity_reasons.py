"""A column that is too rare fails for the metrics that make it so, unless rows or nulls explain it."""

from __future__ import annotations

import headgate as hg
from headgate.learn.history.rarity import is_rarity, make_rarity_key
from headgate.learn.history.rarity_reasons import tell_reasons
from headgate.values.expectation import Expectation, Source, Status
from headgate.values.key import MetricKey
from headgate.values.predicate import Between
from headgate.values.verdict import Verdict, judge
from tests.learn.histories import batch, orders
from tests.learn.history.test_rarity import MEAN, PRICE, outcomes, rarities


def test_a_column_that_is_too_rare_fails_for_the_metrics_that_make_it_so() -> None:
    broken = outcomes(mean=4e4, median=4e4)
    measured = broken | rarities().measure_outcomes(broken)
    limit = Expectation(PRICE, Between(high=12.0), Source.HISTORY, false_alarm=0.01)
    other = Expectation(make_rarity_key("country"), Between(high=12.0), Source.HISTORY, false_alarm=0.01)
    found = tell_reasons(rarities(), judge([limit, other], measured), broken)
    failed = {str(each.expectation.metric) for each in found.failures}
    assert {"mean(price)", "median(price)"} <= failed
    assert not any(is_rarity(each.expectation.metric) for each in found.failures)
    for each in found.failures:
        assert each.value is not None
        assert not each.expectation.predicate.holds(each.value)
        assert each.expectation.source is Source.HISTORY
    assert [str(each.expectation.metric) for each in found.judgements if each.status is Status.PASS] == [
        "rarity(country)"
    ]


def test_a_metric_that_fails_already_is_not_told_twice() -> None:
    broken = outcomes(mean=4e4)
    measured = broken | rarities().measure_outcomes(broken)
    limit = Expectation(PRICE, Between(high=1.0), Source.HISTORY, false_alarm=0.01)
    own = Expectation(MEAN, Between(high=100.0), Source.HISTORY, false_alarm=0.01)
    found = tell_reasons(rarities(), judge([limit, own], measured), broken)
    assert [each.expectation.metric for each in found.failures].count(MEAN) == 1


def judge_rows(rows: int, factor: float = 1.0) -> Verdict:
    """The verdict on the first rows of a good batch, whose prices are so many times as large."""
    table = hg.inject_issue(batch(30), "unit_change", "price", factor=factor) if factor != 1 else batch(30)
    found = orders().outcomes(hg.analyze(table.slice(0, rows)))
    limits = [Expectation(make_rarity_key(each), Between(high=9.0), Source.HISTORY) for each in ("id", "price", "code")]
    size = Expectation(MetricKey("size"), Between(150, 210), Source.HISTORY)
    return tell_reasons(rarities(), judge([size, *limits], found | rarities().measure_outcomes(found)), found)


def test_fewer_rows_explain_what_moves_with_them() -> None:
    verdict = judge_rows(40)
    assert [each.expectation.metric.name for each in verdict.failures] == ["size"]
    skipped = [each for each in verdict.judgements if each.status is Status.SKIP]
    assert skipped
    assert all("size() explains it" in each.reason for each in skipped)


def test_they_do_not_explain_that_prices_are_100_times_as_large() -> None:
    verdict = judge_rows(40, factor=100.0)
    assert {"size()", "mean(price)"} <= {str(each.expectation.metric) for each in verdict.failures}
