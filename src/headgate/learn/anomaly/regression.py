"""Fits a level, a straight line and a season by least squares: the start of smoothing, and its fallback."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headgate.learn.anomaly.series import Floats


class Regression(NamedTuple):
    """The fit of the values that are present.

    `level` is the level before the first value and `slope` the growth per value. `fitted` are the fitted values, `rank`
    the number of estimated parameters, and `spread` their covariance in units of the residuals' variance.
    """

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
    present = ~np.isnan(values)
    spread = np.linalg.pinv(design[present].T @ design[present]).astype(np.float64)
    weights = spread @ design[present].T @ values[present]
    # The first position of the period is the reference with 0; centring the season moves its mean into the level.
    season = np.append(0.0, weights[1 + trend :])
    slope = float(weights[1]) / size if trend else 0.0
    return Regression(
        level=float(weights[0] + season.mean() - slope),
        slope=slope,
        season=season - season.mean(),
        fitted=design @ weights,
        rank=int(np.linalg.matrix_rank(design[present])),
        spread=spread,
        trend=trend,
    )


def _make_design(positions: np.ndarray, period: int, trend: bool, size: int) -> Floats:
    """Columns: ones, the position as a share of the series, and an indicator for each phase but the first."""
    line = [positions / size] if trend else []
    phases = [positions % period == phase for phase in range(1, period)]
    return np.column_stack([np.ones(len(positions)), *line, *phases]).astype(np.float64)
