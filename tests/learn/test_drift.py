"""Drift: what moves slowly is noticed by an anchor long ago, and held beyond a limit."""

from __future__ import annotations

import msgspec
import pytest

from headgate.learn.drift import ANCHOR_RUNS, HOLD_POINTS, Anchor, choose_anchor_runs, find_drift_metric
from headgate.learn.scope import WHOLE_TABLE, LearningScope
from headgate.learn.surprises import NOTHING_ACCEPTED, AcceptedSurprises, SurprisingRun
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Undefined
from headgate.values.run import Run
from headgate.values.schema import Column, Kind, Schema
from tests.learn.histories import past_of

MEDIAN, SPREAD = MetricKey("median", ("price",)), MetricKey("stddev", ("price",))
ROWS, FILLED = MetricKey("size"), MetricKey("completeness", ("price",))
LEVELS = {MEDIAN: 24.0, SPREAD: 4.0, ROWS: 1_000.0, FILLED: 0.98}


def run_of(number: int, values: dict[MetricKey, float] = LEVELS) -> Run:
    outcomes = {key: Measured(value) for key, value in values.items()}
    return Run(dataset="t", partition=f"2026-01-{number:02}", fingerprint="f", outcomes=outcomes)


def anchor_of(runs: int = 10, surprises: AcceptedSurprises = NOTHING_ACCEPTED) -> Anchor:
    return Anchor.of([run_of(number) for number in range(1, runs + 1)], surprises, WHOLE_TABLE)


def batch(**values: float) -> dict[MetricKey, Measured]:
    keys = {"median": MEDIAN, "rows": ROWS, "filled": FILLED}
    return {keys[name]: Measured(value) for name, value in values.items()}


def drifts(median: float, before: list[float]) -> list[float]:
    past = past_of({"median(price)": before})
    return [each.now for each in anchor_of().find_drifts(past, batch(median=median))]


def test_the_anchor_is_the_median_of_the_oldest_runs() -> None:
    later = {**LEVELS, MEDIAN: 99.0}
    runs = [run_of(number, LEVELS if number <= ANCHOR_RUNS else later) for number in range(1, 20)]
    anchor = Anchor.of(runs, NOTHING_ACCEPTED, WHOLE_TABLE)
    assert anchor.levels == {MEDIAN: 24.0, ROWS: 1_000.0, FILLED: 0.98}
    assert set(anchor.since.values()) == {"2026-01-01"}
    assert Anchor.of(runs[:2], NOTHING_ACCEPTED, WHOLE_TABLE).levels == {}


def test_a_factor_or_a_difference_of_shares_is_measured() -> None:
    found = anchor_of().measure(past_of({"mean(price)": [1.0]}), batch(median=48.0, rows=500.0, filled=0.58))
    assert found[MetricKey("median_drift", ("price",))] == Measured(2.0)
    assert found[MetricKey("size_drift")] == Measured(0.5)
    assert found[MetricKey("completeness_drift", ("price",))] == Measured(pytest.approx(-0.4))


@pytest.mark.parametrize("median", [0.0, -24.0, 27.9])
def test_what_is_no_factor_or_within_the_spread_is_undefined(median: float) -> None:
    found = anchor_of().measure(past_of({"mean(price)": [1.0]}), batch(median=median))
    assert isinstance(found[MetricKey("median_drift", ("price",))], Undefined)


@pytest.mark.parametrize(
    ("now", "before", "told"),
    [
        (47.0, [24.0, 24.0, 45.0, 46.0], False),  # not yet twice
        (49.0, [24.0, 24.0, 46.0, 49.0], True),
        (50.0, [24.0, 46.0, 49.0, 50.0], False),  # told before
        (97.0, [50.0, 90.0, 94.0, 97.0], True),  # doubled once more
        (11.9, [24.0, 24.0, 13.0, 11.9], True),
        (11.5, [24.0, 13.0, 11.9, 11.5], False),
        (240.0, [24.0, 24.0, 24.0, 24.0], False),  # a jump is no drift
    ],
)
def test_each_doubling_is_told_once(now: float, before: list[float], told: bool) -> None:
    assert drifts(now, before) == ([now] if told else [])


def test_only_more_nulls_are_told() -> None:
    past = past_of({"completeness(price)": [0.95, 0.9, 0.87]})
    assert [each.metric for each in anchor_of().find_drifts(past, batch(filled=0.87))] == ["completeness(price)"]
    fuller = Anchor.of([run_of(number, {FILLED: 0.5}) for number in range(1, 9)], NOTHING_ACCEPTED, WHOLE_TABLE)
    assert fuller.find_drifts(past, batch(filled=1.0)) == ()


def test_beyond_the_limit_a_batch_is_held_and_0_holds_none() -> None:
    limits = {each.metric.name: each.expectation.predicate for each in anchor_of().expect_no_drift(4.0)}
    assert limits["median_drift"].holds(4.0)
    assert not limits["median_drift"].holds(4.1)
    assert not limits["size_drift"].holds(0.24)
    assert limits["completeness_drift"].holds(0.9)
    assert not limits["completeness_drift"].holds(-HOLD_POINTS - 0.01)
    assert anchor_of().expect_no_drift(0.0) == []


def test_an_accepted_surprise_is_the_new_anchor_of_its_column() -> None:
    accepted = AcceptedSurprises((SurprisingRun("2026-01-05", {}, frozenset({MEDIAN})),))
    anchor = anchor_of(10, accepted)
    assert (anchor.since[MEDIAN], anchor.since[ROWS]) == ("2026-01-05", "2026-01-01")
    assert MEDIAN not in anchor_of(6, accepted).levels


def test_a_column_that_is_not_learned_from_does_not_drift() -> None:
    runs = [run_of(number) for number in range(1, 9)]
    anchor = Anchor.of(runs, NOTHING_ACCEPTED, LearningScope.of(None, None, ["price"]))
    assert set(anchor.levels) == {ROWS}


@pytest.mark.parametrize(
    ("kind", "unique", "drifts"),
    [(Kind.FLOAT, 1.0, True), (Kind.INTEGER, 0.4, True), (Kind.INTEGER, 1.0, False), (Kind.TIMESTAMP, 0.4, False)],
)
def test_numbers_of_rows_and_times_have_no_level(kind: Kind, unique: float, drifts: bool) -> None:
    schema = Schema((Column("price", kind, kind.value),))
    values = {MEDIAN: 24.0, MetricKey("unique_ratio", ("price",)): unique}
    runs = [msgspec.structs.replace(run_of(number, values), schema=schema) for number in range(1, 9)]
    assert (MEDIAN in Anchor.of(runs, NOTHING_ACCEPTED, WHOLE_TABLE).levels) is drifts


@pytest.mark.parametrize(("smallest", "drifts"), [(0.0, True), (-0.5, False)])
def test_numbers_on_both_sides_of_0_have_no_factor(smallest: float, drifts: bool) -> None:
    schema = Schema((Column("price", Kind.FLOAT, "double"),))
    values = LEVELS | {MetricKey("min", ("price",)): smallest}
    runs = [msgspec.structs.replace(run_of(number, values), schema=schema) for number in range(1, 9)]
    assert (MEDIAN in Anchor.of(runs, NOTHING_ACCEPTED, WHOLE_TABLE).levels) is drifts


def test_the_metric_of_a_drift_is_known() -> None:
    assert find_drift_metric(MetricKey("median_drift", ("price",))) == MEDIAN
    assert find_drift_metric(MEDIAN) is None


def test_the_anchor_is_among_the_oldest_runs_and_the_first_since_an_accepted_one() -> None:
    runs = list(range(90))
    by_person = [at == 60 for at in runs]
    assert choose_anchor_runs(runs, by_person) == [*range(ANCHOR_RUNS), *range(60, 60 + ANCHOR_RUNS)]
    assert choose_anchor_runs([0, 1], [False, True]) == [0, 1]
    assert choose_anchor_runs([], []) == []
