"""The ranges that are usual for the metrics of a column."""

from __future__ import annotations

import numpy as np

from headgate.learn.history.usual_ranges import USUAL_RATE, UsualRanges
from headgate.values.key import MetricKey
from tests.learn.histories import orders
from tests.learn.history.test_rarity import MEAN, rarities


def test_usual_ranges_hold_the_runs_and_are_those_that_readers_know_first() -> None:
    shown = UsualRanges(rarities()).list_of_column("price", 3)
    assert [each.expectation.metric.name for each in shown][:2] == ["completeness", "mean"]
    for each in shown:
        at = next(at for at, traits in enumerate(orders().metrics) if traits.key == each.expectation.metric)
        series = orders().values[:, at]
        assert np.mean([each.expectation.predicate.holds(value) for value in series.tolist()]) > 0.9
    assert UsualRanges(rarities()).find(MetricKey("max", ("price",))) is None
    assert rarities().describe_metric(MEAN) == "30 runs"
    assert rarities().describe_metric(MetricKey("mean", ("nothing",))) == ""


def test_a_value_is_outside_of_the_range_that_it_is_told_with() -> None:
    at = next(at for at, each in enumerate(orders().metrics) if each.key == MEAN)
    for value in (22.0, 26.0, 40.0, 1e6):
        found = UsualRanges(rarities()).find_at(at, value)
        assert found is None or not found.expectation.predicate.holds(value)
    usual = UsualRanges(rarities()).find_at(at, 1e6)
    assert usual is not None
    assert usual.expectation.false_alarm is not None
    assert usual.expectation.false_alarm <= 2 * USUAL_RATE
