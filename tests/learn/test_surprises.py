"""Accepted surprises: what is like one passes, and none of them widens what is expected beyond belief."""

from __future__ import annotations

import numpy as np
import pytest

from headgate.learn.surprises import (
    FARTHER,
    AcceptedSurprises,
    SurprisingRun,
    bound_surprises,
    find_excused,
    find_surprises,
    find_usual_run,
)
from headgate.values.expectation import Expectation, Source, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.predicate import Between
from headgate.values.run import Run
from headgate.values.verdict import Verdict, judge
from tests.learn.histories import past_of

MEAN, ROWS, KS = MetricKey("mean", ("price",)), MetricKey("size"), MetricKey("ks_dist", ("price",))
SUM, UNIQUE = MetricKey("sum", ("price",)), MetricKey("unique_ratio", ("customer",))
KEY, DISTINCT = MetricKey("unique_ratio", ("id",)), MetricKey("approx_count_distinct", ("customer",))
USUAL = {
    MEAN: Between(20.0, 30.0),
    ROWS: Between(900.0, 1_100.0),
    KS: Between(high=0.2),
    SUM: Between(20_000.0, 30_000.0),
    UNIQUE: Between(0.85, 0.95),
    KEY: Between(1.0, 1.0),
    DISTINCT: Between(800.0, 1_000.0),
}


def verdict_on(values: dict[MetricKey, float], source: Source = Source.HISTORY) -> Verdict:
    expected = [Expectation(key, USUAL[key], source) for key in values]
    return judge(expected, {key: Measured(value) for key, value in values.items()})


def run_of(values: dict[MetricKey, float], partition: str = "2026-03-31") -> Run:
    outcomes = {key: Measured(value) for key, value in values.items()}
    return Run(dataset="t", partition=partition, fingerprint="f", outcomes=outcomes, verdict=verdict_on(values))


DEAR = AcceptedSurprises.of([run_of({MEAN: 2_400.0, ROWS: 1_000.0, KS: 1.0})])


@pytest.mark.parametrize(
    ("values", "passes"),
    [
        ({MEAN: 2_400.0}, True),
        ({MEAN: 2_500.0, KS: 1.0}, True),
        ({MEAN: 2_900.0}, False),  # more than a fifth away
        ({MEAN: 1_200.0}, False),
        ({MEAN: -2_400.0}, False),
        ({MEAN: 2_400.0, ROWS: 500.0}, False),  # the accepted batch had the usual number of rows
        ({KS: FARTHER * 0.99}, True),
        ({MEAN: 25.0}, True),
    ],
)
def test_what_is_like_an_accepted_batch_in_all_that_fails_passes(values: dict[MetricKey, float], passes: bool) -> None:
    assert DEAR.excuse(verdict_on(values)).passed is passes


MONTH_END = AcceptedSurprises((SurprisingRun("2026-03-31", {ROWS: 1_500.0}, frozenset({ROWS})),))


@pytest.mark.parametrize(
    ("values", "passes"),
    [
        ({SUM: 37_500.0}, True),
        ({SUM: 37_500.0, DISTINCT: 1_250.0, UNIQUE: 0.83}, True),
        ({SUM: 60_000.0}, False),  # farther than the rows
        ({SUM: 15_000.0}, False),  # the other way
        ({UNIQUE: 0.62}, False),  # half of the rows were loaded twice
        ({KEY: 0.9}, False),  # what was always 1
        ({MEAN: 35.0}, False),  # a mean does not grow with the rows
        ({KS: 0.4}, False),
    ],
)
def test_an_accepted_number_of_rows_excuses_what_follows_from_it(values: dict[MetricKey, float], passes: bool) -> None:
    assert MONTH_END.excuse(verdict_on({ROWS: 1_500.0, **values})).passed is passes
    assert not MONTH_END.excuse(verdict_on(values)).passed, "only beside the rows"


def test_near_is_as_far_as_the_range_reaches_in_proportion() -> None:
    """The range of the mean reaches by a fifth from its middle, that of the rows by a tenth."""
    values = {MEAN: 40.0, ROWS: 2_000.0}
    accepted = AcceptedSurprises((SurprisingRun("2026-03-31", values, frozenset(values)),))
    assert accepted.excuse(verdict_on({MEAN: 47.9})).passed
    assert not accepted.excuse(verdict_on({MEAN: 48.1})).passed
    assert accepted.excuse(verdict_on({ROWS: 2_199.0})).passed
    assert not accepted.excuse(verdict_on({ROWS: 2_201.0})).passed


def test_what_was_not_surprising_then_excuses_nothing() -> None:
    """A Sunday with an odd price was accepted. It had few rows, as Sundays have. A Tuesday with as few is held."""
    sunday = AcceptedSurprises((SurprisingRun("2026-03-29", {MEAN: 40.0, ROWS: 500.0}, frozenset({MEAN})),))
    assert not sunday.excuse(verdict_on({ROWS: 500.0})).passed
    assert sunday.excuse(verdict_on({MEAN: 40.0})).passed


def test_what_was_surprising_then_may_be_within_the_range_by_now() -> None:
    """The end of a month was accepted, and widened the range. The next one has a few rows more."""
    month_end = AcceptedSurprises((SurprisingRun("2026-03-31", {ROWS: 1_090.0}, frozenset({ROWS})),))
    assert month_end.excuse(verdict_on({ROWS: 1_110.0})).passed
    assert not month_end.excuse(verdict_on({ROWS: 1_400.0})).passed
    other = AcceptedSurprises((SurprisingRun("2026-03-31", {MEAN: 29.0}, frozenset({KS})),))
    assert not other.excuse(verdict_on({MEAN: 31.0})).passed


def test_the_reason_names_the_accepted_batch() -> None:
    excused = DEAR.excuse(verdict_on({MEAN: 2_400.0})).judgements[0]
    assert excused.status is Status.PASS
    assert excused.reason.endswith("as in 2026-03-31, which was accepted")


@pytest.mark.parametrize("source", [Source.RULES, Source.PATTERNS])
def test_only_what_was_learned_from_history_is_excused(source: Source) -> None:
    assert not DEAR.excuse(verdict_on({MEAN: 2_400.0}, source)).passed


def test_a_run_that_failed_nothing_learned_is_not_remembered() -> None:
    usual = run_of({MEAN: 25.0, ROWS: 1_000.0})
    assert not find_surprises(usual)
    assert AcceptedSurprises.of([usual]) == AcceptedSurprises()


def test_an_excused_run_was_surprising_too() -> None:
    values = {MEAN: 2_400.0, KS: 1.0}
    excused = Run(dataset="t", partition="2026-04-30", fingerprint="f", verdict=DEAR.excuse(verdict_on(values)))
    assert find_surprises(excused) == {MEAN, KS}
    assert [each.expectation.metric for each in find_excused(excused.verdict.judgements)] == [MEAN, KS]
    assert find_excused(run_of(values).verdict.judgements) == []


def runs_with_surprise(at: int, count: int) -> list[Run]:
    return [run_of({MEAN: 2_400.0 if number == at else 25.0}, f"day-{number:02}") for number in range(count)]


def test_a_single_surprise_counts_as_little_farther_than_the_others() -> None:
    mean, deviation = [24.0, 25.0, 26.0, 25.0, 2_400.0, 25.0], [4.0, 4.2, 4.1, 4.0, 400.0, 4.1]
    past = past_of({"mean(price)": mean, "stddev(price)": deviation, "mean(other)": mean})
    bounded = bound_surprises(past, runs_with_surprise(4, 6))
    assert bounded.series("mean(price)").tolist() == [24.0, 25.0, 26.0, 25.0, 28.0, 25.0]
    assert bounded.series("stddev(price)")[4] == pytest.approx(4.4)  # no range of it was learned
    assert bounded.series("mean(other)").tolist() == mean
    assert past.series("mean(price)").tolist() == mean


def test_a_surprise_that_the_next_run_confirms_is_a_new_level() -> None:
    mean = [24.0, 25.0, 26.0, 25.0, 2_400.0, 2_380.0]
    bounded = bound_surprises(past_of({"mean(price)": mean}), runs_with_surprise(4, 6))
    assert bounded.series("mean(price)").tolist() == mean


def test_the_newest_surprise_is_not_a_level_yet() -> None:
    past = past_of({"mean(price)": [24.0, 25.0, 26.0, 25.0, 2_400.0]})
    assert bound_surprises(past, runs_with_surprise(4, 5)).series("mean(price)")[-1] == 28.0


def test_a_surprising_number_of_rows_concerns_all_columns() -> None:
    runs = [run_of({ROWS: 5_000.0 if number == 4 else 1_000.0}, f"day-{number:02}") for number in range(6)]
    past = past_of({"sum(price)": [100.0, 104.0, 102.0, 103.0, 500.0, 101.0]})
    assert bound_surprises(past, runs).series("sum(price)")[4] == 108.0


def test_after_few_runs_nothing_is_bounded() -> None:
    past = past_of({"mean(price)": [24.0, 25.0, 2_400.0, 25.0]})
    assert np.array_equal(bound_surprises(past, runs_with_surprise(2, 4)).values, past.values)


def test_after_a_surprise_the_next_batch_is_compared_with_a_usual_run_too() -> None:
    runs = runs_with_surprise(4, 5)
    assert find_usual_run(runs) is runs[3]
    assert find_usual_run(runs[:4]) is None
    assert find_usual_run([]) is None


def test_a_mode_that_grows_with_its_table_is_remembered_in_proportion() -> None:
    """The end of a month had twice the usual rows. A year later the usual number has doubled, and so has that."""
    rows = {ROWS: 1_000.0}
    then = {ROWS: Between(450.0, 550.0)}
    remembered = AcceptedSurprises((SurprisingRun("2025-03-31", rows, frozenset(rows), then),))
    assert remembered.excuse(verdict_on({ROWS: 2_050.0})).passed
    assert not remembered.excuse(verdict_on({ROWS: 3_000.0})).passed
    assert not remembered.excuse(verdict_on({ROWS: 500.0})).passed  # half of the usual number, not twice
    without_range = AcceptedSurprises((SurprisingRun("2025-03-31", rows, frozenset(rows)),))
    assert not without_range.excuse(verdict_on({ROWS: 2_050.0})).passed


def test_what_was_expected_of_a_surprising_metric_is_remembered() -> None:
    assert SurprisingRun.of(run_of({ROWS: 2_000.0, MEAN: 25.0})).expected == {ROWS: USUAL[ROWS]}
