"""What a batch on a holiday is compared with, and that other days do not learn from it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

import headgate as hg
from headgate.learn.history.forecast import Forecast, forecast_past
from headgate.learn.listed_days import MIN_LISTED_RUNS, add_listed_days, choose_runs
from headgate.learn.past import Past
from headgate.values.day_lists import NO_LISTS, DayLists
from headgate.values.run import Run

START = datetime.date(2026, 3, 2)


def day_of(number: int) -> str:
    return str(START + datetime.timedelta(days=number))


def run_of(number: int, rows: int = 100) -> Run:
    chance = np.random.default_rng(abs(number))
    found = hg.analyze(pa.table({"v": chance.normal(10, 1, rows)}))
    return Run(
        dataset="t",
        partition=day_of(number),
        fingerprint=day_of(number),
        schema=found.schema,
        outcomes=found.outcomes,
        states=found.states,
    )


def lists(*numbers: int) -> DayLists:
    return DayLists.of({"holidays": [day_of(each) for each in numbers]})


RUNS = [run_of(number, 95 + number % 10) for number in range(14)]


def numbers(runs: Sequence[Run]) -> list[int]:
    return [(datetime.date.fromisoformat(each.partition) - START).days for each in runs]


def test_without_lists_all_runs_are_taken() -> None:
    assert choose_runs(RUNS, NO_LISTS, day_of(14)).runs == RUNS
    assert choose_runs([], lists(3), day_of(14)).runs == []


def test_an_ordinary_day_does_not_learn_from_listed_days() -> None:
    found = choose_runs(RUNS, lists(3, 9), day_of(14))
    assert numbers(found.runs) == [0, 1, 2, 4, 5, 6, 7, 8, 10, 11, 12, 13]
    assert (found.name, found.listed, found.describe()) == ("", None, "")


def test_a_listed_day_is_judged_by_ordinary_days_and_the_few_of_its_list() -> None:
    found = choose_runs(RUNS, lists(3, 9, 14), day_of(14))
    assert numbers(found.runs) == [0, 1, 2, 4, 5, 6, 7, 8, 10, 11, 12, 13]
    assert found.listed is not None
    assert numbers(found.listed) == [3, 9]
    assert found.describe() == "holidays: 2 of 7 such days, so ranges are wider and distances are left out"


def test_or_by_the_days_of_its_list_alone_if_they_are_enough() -> None:
    found = choose_runs(RUNS, lists(*range(0, 2 * MIN_LISTED_RUNS + 1, 2)), day_of(14))
    assert numbers(found.runs) == list(range(0, 14, 2))
    assert (found.listed, found.describe()) == (None, "holidays: judged by 7 such days")


def test_days_of_another_list_do_not_count() -> None:
    days = DayLists.of({"holidays": [day_of(3), day_of(14)], "sales": [day_of(5)]})
    found = choose_runs(RUNS, days, day_of(14))
    assert 5 not in numbers(found.runs)
    assert found.listed is not None
    assert numbers(found.listed) == [3]


def bands(listed: Sequence[Run]) -> tuple[Past, Forecast]:
    past = add_listed_days(Past.of_runs(RUNS, following=day_of(14)), listed)
    return past, forecast_past(past)


def band_of(metric: str, listed: Sequence[Run]) -> tuple[float, float]:
    past, forecast = bands(listed)
    return forecast.band_of([str(each.key) for each in past.metrics].index(metric), 1.0)


def test_distances_are_left_out() -> None:
    past, _ = bands([])
    assert not any(each.is_distance for each in past.metrics)
    assert past.values.shape == (len(RUNS), len(past.metrics))


def test_without_earlier_days_what_is_not_grossly_different_is_expected() -> None:
    low, high = band_of("size()", [])
    assert 5 < low < 10.4
    assert 980 < high < 1_100
    low, high = band_of("completeness(v)", [])  # it never varied
    assert low > 0.98


def test_with_three_days_it_reaches_from_ordinary_days_to_those() -> None:
    listed = [run_of(-days, rows) for days, rows in ((300, 40), (200, 44), (100, 42))]
    low, high = band_of("size()", listed)
    assert 35 < low < 40
    assert 98 < high < 115
