"""Pooled rates: how often the next value of a metric was surprising, observed on many real tables."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

import msgspec
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

HISTORY_LENGTHS = (7, 14, 28)  # runs; a history uses the curves of the largest length that it reaches
SHORT_LENGTHS = (1, 3)  # runs, of histories that only have coarse limits
_ALL_METRICS = "*"
_OF_TABLE = "guard_"


class RateCurve(msgspec.Struct, frozen=True):
    """The share of next values whose surprise exceeded each reach of the grid, out of `seen` values (weighted)."""

    seen: float
    shares: tuple[float, ...]


class PooledRates(msgspec.Struct, frozen=True):
    """Curves over `grid`, by name of the metric (`*` for all), constant or varying series, and history length.

    The curves of constant series say how often a metric that never changed does change in the next run, and how much:
    some metrics are constant by design, others by chance.
    """

    grid: tuple[float, ...]
    curves: dict[str, RateCurve]
    prior: float = 2_000.0  # how many values the curve of all metrics weighs beside the curve of one

    def exceedance_rates(self, name: str, constant: bool, runs: int) -> Floats:
        """The share of next values whose surprise exceeds each reach of the grid.

        It is the metric's own curve, shrunk towards that of all metrics. Half a value is added to the latter, because
        a rate of 0 among finitely many values does not prove that it never happens.
        """
        length = max(each for each in HISTORY_LENGTHS if each <= max(runs, HISTORY_LENGTHS[0]))
        own_curve = self.curves.get(make_curve_key(name, constant, length), RateCurve(0.0, (0.0,) * len(self.grid)))
        common_curve = self.curves.get(make_curve_key(_ALL_METRICS, constant, length))
        if common_curve is None:
            return np.zeros(len(self.grid))
        common_rates = (np.array(common_curve.shares) * common_curve.seen + 0.5) / (common_curve.seen + 1.0)
        return (np.array(own_curve.shares) * own_curve.seen + self.prior * common_rates) / (own_curve.seen + self.prior)

    def table_rates(self, name: str, runs: int) -> Floats:
        """The share of runs of which the largest surprise exceeds each reach of the grid; 1 if nothing is known.

        Half a run is added, because a rate of 0 among finitely many runs does not prove that it never happens.
        """
        keys = [make_curve_key(name, False, length) for length in (*SHORT_LENGTHS, *HISTORY_LENGTHS) if length <= runs]
        curve = next((self.curves[key] for key in reversed(keys) if key in self.curves), None)
        if curve is None:
            return np.ones(len(self.grid))
        return (np.array(curve.shares) * curve.seen + 0.5) / (curve.seen + 1.0)


def is_of_table(name: str) -> bool:
    """Whether a curve is about tables: a surprise there is the largest of several metrics of a run."""
    return name.startswith(_OF_TABLE)


def make_curve_key(name: str, constant: bool, length: int) -> str:
    return f"{name} {'constant' if constant else 'varying'} {length}"


@cache
def load_pooled_rates() -> PooledRates:
    """The rates that ship with the package; `python -m training.pooled_rates` computes them."""
    text = (files("headgate.learn") / "pooled_rates.json").read_text(encoding="utf-8")
    return msgspec.json.decode(text, type=PooledRates)


def format_pooled_rates(pooled_rates: PooledRates) -> str:
    """The rates as JSON with one line per curve, so that a change can be reviewed."""
    lines = [
        f"  {json.dumps(key)}: {msgspec.json.encode(curve).decode()}"
        for key, curve in sorted(pooled_rates.curves.items())
    ]
    head = f'{{"grid": {json.dumps(pooled_rates.grid)}, "prior": {pooled_rates.prior}, "curves": {{\n'
    return head + ",\n".join(lines) + "\n}}\n"
