"""A level, a straight line and a season, by least squares: where smoothing starts, and what it falls back on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headgate.learn.anomaly.series import Floats


class Regression(NamedTuple):
    """The fit of the present values: before the first of them, and at each; `rank` numbers were estimated for it."""

    level: float
    slope: float
    season: Floats
    fitted: Floats
    rank: int
    spread: Floats
    trend: bool

    def predict_at(self, position: int) -> float:
        return float(self.level + self.slope * (position + 1) + self.season[position % len(self.season)])

    def leverage(self, position: int) -> float:
        """The variance of `predict_at(position)`, in units of the residuals' variance."""
        row = _make_design(np.array([position]), len(self.season), self.trend, len(self.fitted))[0]
        return float(row @ self.spread @ row)


def regress(values: Floats, period: int, trend: bool) -> Regression:
    """Fit the values that are not missing."""
    size = len(values)
    design = _make_design(np.arange(size), period, trend, size)
    there = ~np.isnan(values)
    spread = np.linalg.pinv(design[there].T @ design[there]).astype(np.float64)
    weights = spread @ design[there].T @ values[there]
    season = np.append(0.0, weights[1 + trend :])
    slope = float(weights[1]) / size if trend else 0.0
    return Regression(
        level=float(weights[0] + season.mean() - slope),
        slope=slope,
        season=season - season.mean(),
        fitted=design @ weights,
        rank=int(np.linalg.matrix_rank(design[there])),
        spread=spread,
        trend=trend,
    )


def _make_design(positions: np.ndarray, period: int, trend: bool, size: int) -> Floats:
    """One, the position as a share of the series, and a column for each place in the period but the first."""
    line = [positions / size] if trend else []
    places = [positions % period == place for place in range(1, period)]
    return np.column_stack([np.ones(len(positions)), *line, *places]).astype(np.float64)
