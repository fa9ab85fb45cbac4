"""Measures the figures of docs/methods/series.md: `python -m tests.learn.anomaly.measure [series of each kind]`."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from headgate.learn.anomaly.holt_winters import HoltWinters
from headgate.learn.anomaly.online_normal import OnlineNormal
from headgate.learn.anomaly.seasonality import find_period
from headgate.values.predicate import Between
from tests.learn.anomaly.examples import WEEK

SEASONAL = ("weekend", "wandering", "drifting", "any week", "heavy tails")
PLAIN = ("white noise", "random walk", "autoregression 0.5", "uniform", "lognormal")
LENGTHS = (28, 60, 120)


def seasonal(kind: str, days: int, random: np.random.Generator) -> NDArray[np.float64]:
    """A weekly series with noise of deviation 1 (Student's t with 5 degrees of freedom for heavy tails)."""
    at, errors = np.arange(days), random.normal(size=days)
    weekend = WEEK[(at + random.integers(7)) % 7]
    match kind:
        case "wandering":
            return 100.0 + weekend + errors + random.normal(scale=1.0, size=days).cumsum()
        case "drifting":
            return 100.0 + weekend + errors + random.normal(scale=0.3, size=days).cumsum()
        case "any week":
            return 100.0 + random.normal(scale=2.0, size=7)[at % 7] + errors
        case "heavy tails":
            return 100.0 + weekend + random.standard_t(5, size=days)
    return 100.0 + weekend + errors


def plain(kind: str, days: int, random: np.random.Generator) -> NDArray[np.float64]:
    """A series without a season."""
    errors = random.normal(size=days)
    match kind:
        case "random walk":
            return errors.cumsum()
        case "autoregression 0.5":
            values = np.zeros(days)
            for at in range(1, days):
                values[at] = 0.5 * values[at - 1] + errors[at]
            return values
        case "uniform":
            return random.uniform(size=days)
        case "lognormal":
            return np.exp(errors)
    return errors


def found(kind: str, days: int, count: int) -> float:
    return (
        sum(find_period(seasonal(kind, days, np.random.default_rng([days, seed]))) == 7 for seed in range(count))
        / count
    )


def not_found(kind: str, days: int, count: int) -> float:
    return (
        sum(find_period(plain(kind, days, np.random.default_rng([days, seed]))) is None for seed in range(count))
        / count
    )


def false_alarms(kind: str, days: int, count: int) -> float:
    """How often the value after so many days is outside the band of Holt-Winters at confidence 0.99."""
    alarms = 0
    for seed in range(count):
        values = seasonal(kind, days + 1, np.random.default_rng([days, seed, 9]))
        band = HoltWinters().band(values[:-1])
        alarms += isinstance(band, Between) and not band.holds(values[-1])
    return alarms / count


def normal_false_alarms(days: int, count: int) -> float:
    """How often the value after so many of white noise is outside the band of OnlineNormal()."""
    alarms = 0
    for seed in range(count):
        values = np.random.default_rng([days, seed]).normal(size=days + 1)
        band = OnlineNormal().band(values[:-1])
        alarms += isinstance(band, Between) and not band.holds(float(values[-1]))
    return alarms / count


def main(count: int) -> None:
    for days in (5, 10, 20, *LENGTHS):
        print(f"false alarms of OnlineNormal() after {days} values: {normal_false_alarms(days, 20 * count):.4f}")
    for kind in PLAIN:
        print(f"no season in {kind}:", *(f"{days}: {not_found(kind, days, count):.3f}" for days in LENGTHS))
    for kind in SEASONAL:
        print(f"week found, {kind}:", *(f"{days}: {found(kind, days, count):.3f}" for days in LENGTHS))
    for kind in SEASONAL:
        print(
            f"false alarms, {kind}:",
            *(f"{days}: {false_alarms(kind, days, count):.3f}" for days in LENGTHS),
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
