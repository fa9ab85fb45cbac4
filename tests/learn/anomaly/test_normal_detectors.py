"""The detectors around a mean against plain numpy, and what sets them apart from Deequ's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from headgate.learn.anomaly.batch_normal import BatchNormal
from headgate.learn.anomaly.online_normal import OnlineNormal
from headgate.values.outcome import Undefined
from headgate.values.predicate import Between

SEEDS = range(20)
FIVE = [100.0, 102.0, 99.0, 101.0, 98.0]


def spiky(seed: int) -> NDArray[np.float64]:
    random = np.random.default_rng(seed)
    values = random.normal(50.0, 2.0, size=60)
    values[random.choice(60, 4, replace=False)] += random.choice([-25.0, 25.0], 4)
    return values


def deequ_flags(values: list[float], factor: float) -> list[int]:
    """Mean and deviation with the tested value in them, as Deequ computes them."""
    return [
        at
        for at in range(1, len(values))
        if abs(values[at] - np.mean(values[: at + 1])) > factor * np.std(values[: at + 1])
    ]


def test_a_spike_is_flagged_after_five_values() -> None:
    assert OnlineNormal().find_anomalies([*FIVE, 1000.0]) == (5,)
    assert BatchNormal().find_anomalies([*FIVE, 1000.0]) == (5,)


def test_a_baseline_that_holds_the_tested_value_flags_none_of_the_first_ten() -> None:
    values = [*FIVE, 1000.0, 100.0, 1e6, 1e9, 1e12]
    assert deequ_flags(values, factor=3.0) == []
    assert OnlineNormal().find_anomalies(values) == (5, 7, 8, 9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("difference", [0, 1, 2])
@pytest.mark.parametrize("ignoring", [True, False])
def test_a_running_mean_is_that_of_the_values_that_were_inside(seed: int, difference: int, ignoring: bool) -> None:
    changes = np.diff(spiky(seed), n=difference)
    kept: list[float] = []
    expected = []
    for at, change in enumerate(changes):
        outside = at >= 5 and abs(change - np.mean(kept)) > 3.0 * np.std(kept, ddof=1)
        expected += [at + difference] if outside else []
        kept += [] if outside and ignoring else [change]
    found = OnlineNormal(ignore_anomalies=ignoring, difference=difference).find_anomalies(spiky(seed))
    assert found == tuple(expected)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("window", [None, 10])
def test_a_batch_mean_is_that_of_the_last_values(seed: int, window: int | None) -> None:
    values = spiky(seed)
    last = values[-(window or len(values)) :]
    band = BatchNormal(deviations=2.5, window=window).band(values)
    assert isinstance(band, Between)
    assert band.low == pytest.approx(last.mean() - 2.5 * last.std(ddof=1), rel=1e-12)
    assert band.high == pytest.approx(last.mean() + 2.5 * last.std(ddof=1), rel=1e-12)


def test_a_past_incident_does_not_widen_the_band() -> None:
    incident = [*FIVE, *FIVE, 0.0, *FIVE]
    calm = OnlineNormal().band([*FIVE, *FIVE, *FIVE])
    assert OnlineNormal().band(incident) == calm
    assert OnlineNormal().find_anomalies([*incident, 90.0]) == (10, 16)
    assert OnlineNormal(ignore_anomalies=False).find_anomalies([*incident, 90.0]) == (10,)


def test_an_incident_on_the_side_that_is_not_looked_at_is_not_an_anomaly() -> None:
    assert OnlineNormal(upper=False).find_anomalies([*FIVE, 1000.0, 0.0]) == ()
    assert OnlineNormal(lower=False).find_anomalies([*FIVE, 0.0, 1000.0]) == (6,)
    assert OnlineNormal(lower=False).band(FIVE).low is None  # type: ignore[union-attr]


def test_a_new_level_is_accepted_once_the_window_holds_it() -> None:
    random = np.random.default_rng(0)
    values = np.concatenate([random.normal(10.0, 1.0, 30), random.normal(50.0, 1.0, 30)])
    assert len(OnlineNormal().find_anomalies(values)) >= 30
    assert len([at for at in BatchNormal(window=10).find_anomalies(values) if at >= 40]) <= 3


def test_differencing_lets_growth_pass_that_hides_a_fall() -> None:
    growth = 100.0 + 10.0 * np.arange(30) + np.random.default_rng(1).normal(size=30)
    growth[25] -= 60.0
    assert OnlineNormal(deviations=5.0).find_anomalies(growth) == ()
    assert 25 in OnlineNormal(deviations=5.0, difference=1).find_anomalies(growth)


def test_missing_values_are_skipped_before_differencing() -> None:
    gaps = [1.0, math.nan, 2.0, 4.0, math.nan, 3.0, 5.0, 6.0, 8.0]
    whole = [value for value in gaps if not math.isnan(value)]
    assert OnlineNormal(difference=1).band(gaps) == OnlineNormal(difference=1).band(whole)


def test_a_large_level_keeps_its_small_deviation() -> None:
    random = np.random.default_rng(2)
    small = random.uniform(size=50)
    for each in (OnlineNormal(), BatchNormal()):
        band, far = each.band(small), each.band(small + 1e9)
        assert isinstance(band, Between)
        assert isinstance(far, Between)
        assert far.high - 1e9 == pytest.approx(band.high, abs=2e-5)  # type: ignore[operator]


def test_a_line_without_noise_is_followed_but_no_step_off_it() -> None:
    line = [0.1 * day for day in range(30)]
    assert OnlineNormal(difference=1).find_anomalies(line) == ()
    assert OnlineNormal(difference=1).find_anomalies([*line, 3.0 + 1e-6]) == (30,)


def test_the_first_values_are_not_judged() -> None:
    assert OnlineNormal(warm_up=8).band(FIVE) == Undefined("needs 8 values, there are 5")
    assert BatchNormal(difference=2).band(FIVE) == Undefined("needs 7 values, there are 5")
    assert isinstance(BatchNormal(window=3).band(FIVE[:3]), Between)


@pytest.mark.parametrize("difference", [0, 1, 2])
def test_values_too_large_to_compute_with_leave_the_band_undefined(difference: int) -> None:
    values = [1.7e308, -1.7e308, -1.7e308, 1.7e308] * 5
    for each in (OnlineNormal(difference=difference), BatchNormal(difference=difference)):
        assert each.band(values) == Undefined("the values are too large to compute with")
