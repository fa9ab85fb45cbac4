"""Coarse limits while runs or rows are few, and that numbers stay finite."""

from __future__ import annotations

from headgate.learn.history.coarse_bands import COARSE_NOTE, CoarseBands, narrow_by_coarse
from headgate.learn.past import Past
from headgate.learn.pooled_rates import load_pooled_rates
from headgate.learn.scope import LearningScope
from headgate.values.expectation import Expectation, Source
from headgate.values.key import MetricKey
from headgate.values.predicate import Between
from headgate.values.proposal import Proposal
from tests.learn.histories import past_of


def bands(past: Past, metrics: tuple[str, ...] | None = None) -> CoarseBands:
    return CoarseBands.of(past, load_pooled_rates(), LearningScope(metrics=metrics).learns_metric)


def finite_columns(past: Past, metrics: tuple[str, ...] | None = None) -> list[str]:
    proposals = bands(past, metrics).propose_finite()
    assert {(str(each.expectation.predicate), each.cost) for each in proposals} <= {("equal to 1", 0.0)}
    return [each.column for each in proposals]


def test_only_columns_that_were_always_finite_are_expected_to_be_so() -> None:
    always, once = [1.0] * 30, [1.0] * 29 + [0.999]
    past = past_of({"finiteness(a)": always, "finiteness(b)": once, "completeness(c)": always})
    assert finite_columns(past) == ["a"]
    assert finite_columns(past, metrics=("mean",)) == []
    assert finite_columns(past_of({"finiteness(a)": [1.0] * 6})) == []


def test_limits_are_there_while_runs_or_rows_are_few() -> None:
    def limits(rows: float, runs: int) -> list[str]:
        past = past_of({"size()": [rows] * runs, "completeness(x)": [1.0] * runs})
        found = bands(past).choose(0.01)
        assert all(each.note.startswith(COARSE_NOTE) for each in found)
        return [each.expectation.metric.name for each in found]

    assert limits(1_000, 3) == ["size", "completeness"]
    assert limits(20, 30) == ["size", "completeness"]
    assert limits(1_000, 30) == []
    assert bands(past_of({"size()": [1_000.0] * 3})).choose(0.0) == []


def proposal(low: float | None, high: float | None, rate: float = 0.001) -> Proposal:
    return Proposal(Expectation(MetricKey("size"), Between(low, high), Source.HISTORY, false_alarm=rate))


def test_of_a_metric_that_has_a_range_and_a_limit_what_is_within_both_is_expected() -> None:
    (found,) = narrow_by_coarse([proposal(-5.0, 100.0)], [proposal(10.0, 1_000.0)])
    assert found.expectation.predicate == Between(10.0, 100.0)
    assert found.expectation.false_alarm == 0.002
    narrow = proposal(20.0, 100.0)
    assert narrow_by_coarse([narrow], [proposal(10.0, 1_000.0)]) == [narrow]
    apart = proposal(2_000.0, 3_000.0)
    assert narrow_by_coarse([apart], [proposal(10.0, 1_000.0)]) == [apart]
