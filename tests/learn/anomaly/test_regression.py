"""The least-squares fit of level, line and season, against the normal equations."""

from __future__ import annotations

import numpy as np
import pytest

from headgate.learn.anomaly.regression import regress
from tests.learn.anomaly.examples import weekly


@pytest.mark.parametrize(("trend", "period"), [(True, 7), (False, 7), (True, 1), (False, 1)])
def test_a_regressions_leverage_is_the_textbooks(trend: bool, period: int) -> None:
    values = weekly(2, 30)
    rows = np.array(
        [[1.0, *([at] if trend else []), *(at % period == p for p in range(1, period))] for at in range(31)]
    )
    rows = rows.astype(float)
    expected = rows[30] @ np.linalg.inv(rows[:30].T @ rows[:30]) @ rows[30]
    found = regress(values, period, trend)
    assert found.leverage(30) == pytest.approx(expected)
    assert found.rank == rows.shape[1]
    solved = np.linalg.lstsq(rows[:30], values, rcond=None)[0]
    assert found.fitted == pytest.approx(rows[:30] @ solved)
    assert found.predict_at(30) == pytest.approx(rows[30] @ solved)


def test_a_line_and_a_season_without_noise_are_found_exactly() -> None:
    positions = np.arange(30)
    season = np.array([-1.0, 0.0, 1.0])
    fit = regress(5.0 + 2.0 * (positions + 1) + season[positions % 3], 3, trend=True)
    assert (fit.level, fit.slope) == (pytest.approx(5.0), pytest.approx(2.0))
    assert fit.season == pytest.approx(season)
    assert fit.predict_at(31) == pytest.approx(5.0 + 2.0 * 32 + season[31 % 3])


def test_missing_values_are_left_out_of_the_fit() -> None:
    values = 3.0 * np.arange(10.0)
    values[[2, 7]] = np.nan
    fit = regress(values, 1, trend=True)
    assert fit.fitted == pytest.approx(3.0 * np.arange(10.0))


def test_a_season_is_centred_on_zero_and_a_fit_without_trend_has_no_slope() -> None:
    fit = regress(np.array([1.0, 2.0, 6.0] * 4), 3, trend=False)
    assert fit.slope == 0.0
    assert fit.season.sum() == pytest.approx(0.0)
    assert fit.level == pytest.approx(3.0)
