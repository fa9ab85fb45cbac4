"""Bands hold what they state: realised rates of false alarms of simulated series, with an upper confidence bound."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.history.calibration import KINDS, RATES, RUNS, Cell, _cells, _ours, _papers

SERIES = 16_000
CONFIRMED = 0.001  # the rate for which so few series say enough only if next to none leaves its band


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_series_leaves_its_band_more_often_than_stated(kind: str, runs: int) -> None:
    for cell in _cells("headgate", kind, runs, SERIES, 1, _ours):
        assert cell.bands == SERIES
        if cell.rate > CONFIRMED:
            assert cell.upper <= cell.rate, cell
        else:
            assert cell.left / cell.bands <= cell.rate, cell


def test_the_bounds_of_the_paper_promise_more_than_they_hold() -> None:
    short = {cell.rate: cell for cell in _cells("paper", "normal", 7, 1_000, 1, _papers)}
    assert short[0.001].left / short[0.001].bands > 5 * 0.001


def test_the_upper_bound_is_above_the_share() -> None:
    cell = Cell("headgate", "normal", 30, 0.01, 10_000, 20)
    assert 0.002 < cell.upper < 0.004
    assert Cell("headgate", "normal", 30, 0.01, 0, 0).upper == 0.0


def test_every_rate_and_length_is_simulated() -> None:
    assert set(RATES) == {0.05, 0.01, 0.001}
    assert np.array_equal(RUNS, (7, 14, 30, 60))
