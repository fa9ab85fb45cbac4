"""Intervals for a share, against another implementation and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from headgate.stats.intervals import wilson


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.998])
@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (3, 10), (280, 1_000), (99_999, 100_000)])
def test_wilsons_interval_is_what_scipy_computes(successes: int, trials: int, confidence: float) -> None:
    expected = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    assert wilson(successes, trials, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_of_no_trials_nothing_is_known() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_shares_at_the_ends_stay_at_the_ends_on_one_side() -> None:
    assert wilson(0, 50)[0] == 0.0
    assert wilson(50, 50)[1] == 1.0
    assert 0.9 < wilson(50, 50)[0] < 1.0


@pytest.mark.parametrize(("successes", "trials", "confidence"), [(2, 1, 0.9), (-1, 5, 0.9), (1, 5, 1.0), (1, 5, 0.0)])
def test_what_is_no_share_is_refused(successes: int, trials: int, confidence: float) -> None:
    with pytest.raises(ValueError, match="no interval"):
        wilson(successes, trials, confidence)


def test_new_data_fall_below_the_lower_end_as_seldom_as_stated() -> None:
    rng = np.random.default_rng(0)
    shares = rng.uniform(0.05, 0.95, 4_000)
    lows = np.array([wilson(seen, 1_000, 0.9)[0] for seen in rng.binomial(1_000, shares)])
    assert (shares < lows).mean() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(shares))
