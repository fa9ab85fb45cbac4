"""A season is found where there is one, and rarely where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from headgate.learn.anomaly.seasonality import CANDIDATES, find_period
from tests.learn.anomaly.examples import noise, weekly

SEEDS = range(200)


@pytest.mark.parametrize("days", [30, 60, 120])
def test_white_noise_has_no_season(days: int) -> None:
    without = sum(find_period(noise(seed, days)) is None for seed in SEEDS)
    assert without >= 0.95 * len(SEEDS)


@pytest.mark.parametrize("days", [30, 60, 120])
def test_a_random_walk_has_no_season(days: int) -> None:
    without = sum(find_period(noise(seed, days).cumsum()) is None for seed in SEEDS)
    assert without >= 0.95 * len(SEEDS)


@pytest.mark.parametrize("days", [28, 60, 120])
def test_a_week_is_found(days: int) -> None:
    found = sum(find_period(weekly(seed, days)) == 7 for seed in SEEDS)
    assert found >= 0.95 * len(SEEDS)


@pytest.mark.parametrize("days", [60, 120])
def test_a_week_is_found_on_a_wandering_level(days: int) -> None:
    found = sum(find_period(weekly(seed, days) + noise(seed, days).cumsum()) == 7 for seed in SEEDS)
    assert found >= 0.95 * len(SEEDS)


@pytest.mark.parametrize("days", [60, 120])
def test_a_week_is_found_with_a_tenth_of_the_values_missing(days: int) -> None:
    found = 0
    for seed in SEEDS:
        values = weekly(seed, days)
        values[np.random.default_rng(seed).random(days) < 0.1] = np.nan
        found += find_period(values) == 7
    assert found >= 0.95 * len(SEEDS)


@pytest.mark.parametrize("period", CANDIDATES)
def test_each_candidate_is_distinguished_from_the_others(period: int) -> None:
    random = np.random.default_rng(period)
    shape = random.normal(scale=5.0, size=period)
    values = np.tile(shape, 5) + random.normal(size=5 * period)
    assert find_period(values) == period
    assert find_period(np.tile(shape, 5)) == period


def test_a_season_must_come_round_three_times() -> None:
    exact = np.tile([9.0, 1.0, 4.0, 2.0, 8.0, 3.0, 0.0], 3)
    assert find_period(exact) == 7
    assert find_period(exact[:20]) is None


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 50, [np.nan] * 50, [0.0] * 49 + [1.0]], ids=lambda v: str(v[:1]))
def test_a_series_with_nothing_in_it_has_no_season(values: list[float]) -> None:
    assert find_period(np.array(values, dtype=float)) is None
