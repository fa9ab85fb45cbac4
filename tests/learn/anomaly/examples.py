"""Series to test detectors on: seeded weeks and noise, and any series at all for Hypothesis."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from headgate.learn.anomaly.absolute_change import AbsoluteChange
from headgate.learn.anomaly.batch_normal import BatchNormal
from headgate.learn.anomaly.detector import Detector
from headgate.learn.anomaly.holt_winters import HoltWinters
from headgate.learn.anomaly.online_normal import OnlineNormal
from headgate.learn.anomaly.relative_change import RelativeChange
from headgate.learn.anomaly.threshold import Threshold

WEEK = np.array([0.0, 0.0, 0.0, 0.0, 0.0, -4.0, -4.0])  # in standard deviations of the noise

CHEAP: tuple[Detector, ...] = (
    Threshold(low=-1.0, high=1.0),
    AbsoluteChange(most_down=0.0, most_up=2.0),
    AbsoluteChange(most_up=1e300, order=3),
    RelativeChange(least=0.9, most=1.1),
    RelativeChange(most=2.0, order=3),
    OnlineNormal(),
    OnlineNormal(deviations=0.5, upper=False, ignore_anomalies=False, difference=1, warm_up=2),
    OnlineNormal(difference=2),
    BatchNormal(),
    BatchNormal(deviations=1e300, window=3, lower=False, difference=2),
)
SMOOTHING: tuple[Detector, ...] = (
    HoltWinters(),
    HoltWinters(period=2, trend=False, upper=False),
    HoltWinters(period=4),
)

numbers = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 0.1, math.nan, math.inf, -math.inf, 5e-324, 1e-300, 1.7e308, -1.7e308]),
    st.floats(-10.0, 10.0),
    st.floats(),
)
series = st.one_of(
    st.lists(numbers, max_size=40),
    st.lists(st.floats(-100.0, 100.0), min_size=12, max_size=40),
    st.builds(lambda value, size: [value] * size, numbers, st.integers(0, 30)),
)


def weekly(seed: int, days: int) -> NDArray[np.float64]:
    """Working days around 100 and weekends around 96, with noise of deviation 1, starting on any day."""
    random = np.random.default_rng([seed, days])
    return 100.0 + WEEK[(np.arange(days) + random.integers(7)) % 7] + random.normal(size=days)


def noise(seed: int, days: int) -> NDArray[np.float64]:
    return np.random.default_rng([seed, days]).normal(size=days)
