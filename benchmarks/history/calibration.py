"""How often bands hold what they state, simulated: six kinds of series, four lengths of history, three rates.

The series are numbers, so it does not matter whether a store hides values.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headgate.learn.history.forecast import forecast_next
from headgate.learn.history.paper import REACHES
from headgate.learn.history.rates import false_alarm_rates
from headgate.learn.metric_traits import MetricTraits, Scale
from headgate.learn.pooled_rates import load_pooled_rates
from headgate.stats.intervals import wilson
from headgate.stats.stationarity import make_stationary
from headgate.stats.tails import normal
from headgate.values.key import MetricKey

Floats = npt.NDArray[np.float64]
Random = np.random.Generator

RUNS = (7, 14, 30, 60)
RATES = (0.05, 0.01, 0.001)
_CHUNK = 20_000
_WARM = 50


def _autoregressive(rng: Random, series: int, runs: int) -> Floats:
    noise = rng.normal(size=(runs + _WARM, series))
    for at in range(1, len(noise)):
        noise[at] += 0.7 * noise[at - 1]
    return noise[_WARM:]


def _weekly(rng: Random, series: int, runs: int) -> Floats:
    day = np.arange(runs)[:, None] + rng.integers(0, 7, series)
    return 10 * np.sin(2 * np.pi * day / 7) + rng.normal(size=(runs, series))


KINDS: dict[str, Callable[[Random, int, int], Floats]] = {
    "normal": lambda rng, series, runs: rng.normal(size=(runs, series)),
    "log-normal": lambda rng, series, runs: np.exp(rng.normal(size=(runs, series))),
    "t(3)": lambda rng, series, runs: rng.standard_t(3, size=(runs, series)),
    "AR(1)": _autoregressive,
    "weekly": _weekly,
    "trend": lambda rng, series, runs: 0.5 * np.arange(runs)[:, None] + rng.normal(size=(runs, series)),
}


class Cell(NamedTuple):
    """One kind of series at one length and rate: how many bands were made, and how many the next value left."""

    bounds: str
    kind: str
    runs: int
    rate: float
    bands: int
    left: int

    @property
    def upper(self) -> float:
        """The upper end of the 99% interval of the realised rate."""
        return wilson(self.left, self.bands, 0.98)[1] if self.bands else 0.0


def simulated(series: int, paper: int, seed: int = 0) -> list[Cell]:
    """Every cell for our bounds over so many series, and for the paper's over so many."""
    cells = []
    for kind in KINDS:
        for runs in RUNS:
            cells += _cells("headgate", kind, runs, series, seed, _ours)
            cells += _cells("paper", kind, runs, paper, seed, _papers)
    return cells


def _cells(
    bounds: str,
    kind: str,
    runs: int,
    series: int,
    seed: int,
    judge: Callable[[Floats, Floats], dict[float, tuple[int, int]]],
) -> list[Cell]:
    rng = np.random.default_rng([seed, list(KINDS).index(kind), runs])
    sums = {rate: np.zeros(2, int) for rate in RATES}
    for start in range(0, series, _CHUNK):
        values = KINDS[kind](rng, min(_CHUNK, series - start), runs + 1)
        for rate, found in judge(values[:-1], values[-1]).items():
            sums[rate] += found
    return [Cell(bounds, kind, runs, rate, int(bands), int(left)) for rate, (bands, left) in sums.items()]


def _ours(past: Floats, value: Floats) -> dict[float, tuple[int, int]]:
    """The narrowest band that each rate pays for: the most that a selection may choose."""
    measures = [MetricTraits(MetricKey("mean", ("x",)), Scale.SPREAD, signed=True)] * past.shape[1]
    made = forecast_next(past, measures)
    prices = false_alarm_rates(made, measures, load_pooled_rates())
    surprise = made.surprise(value)
    grid = np.array(load_pooled_rates().grid)
    found = {}
    for rate in RATES:
        paid = prices <= rate
        made_one = paid.any(axis=1)
        reach = grid[np.argmax(paid, axis=1)]
        found[rate] = int(made_one.sum()), int((made_one & (surprise > reach)).sum())
    return found


def _papers(past: Floats, value: Floats) -> dict[float, tuple[int, int]]:
    """Algorithms 3 to 5 with Proposition 3, which the paper gives for a mean."""
    transforms = make_stationary(past.T)
    found = {rate: np.zeros(2, int) for rate in RATES}
    least = {rate: float(REACHES[np.argmax(normal(REACHES, 1.0) <= rate)]) for rate in RATES}
    for series, after, transform in zip(past.T, value, transforms, strict=True):
        if transform is None:
            continue
        moved = transform.apply(series)
        mean, deviation = moved.mean(), moved.std(ddof=1)
        for rate in RATES:
            low, high = transform.invert_range((mean - least[rate] * deviation, mean + least[rate] * deviation), series)
            found[rate] += 1, int(after < low or after > high)
    return {rate: (int(bands), int(left)) for rate, (bands, left) in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=60_000)
    parser.add_argument("--paper", type=int, default=4_000)
    arguments = parser.parse_args()
    cells = simulated(arguments.series, arguments.paper)
    target = Path(__file__).with_name("results") / "calibration.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps([{**each._asdict(), "upper": each.upper} for each in cells], indent=1) + "\n")
    for each in cells:
        share, over = each.left / max(1, each.bands), "OVER" if each.upper > each.rate else ""
        print(f"{each.bounds:9s} {each.kind:10s} {each.runs:3d} {each.rate:6g} {share:.5f} {each.upper:.5f} {over}")


if __name__ == "__main__":
    main()
