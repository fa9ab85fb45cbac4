"""The rarity beyond which a batch is held, so that good batches are held as often as the budget says.

How rare good batches are differs from table to table. So the share is that of other tables, and the table's own as soon
as it has runs: the mean of the posterior of a Gamma prior.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

LIMITS = np.arange(0.0, 60.0, 0.1)
MOST_WEIGHT = 200.0
"""Runs that the evidence of other tables counts as at most beside those of the table."""
LEAST_SHAPE, MOST_SHAPE = 0.2, 3.0
"""Ends of the shape of the prior, whose estimate from few tables is rough."""
Floats = npt.NDArray[np.float64]


class Prior:
    """The mean share of runs of a table that are rarer than each limit, and how many runs that counts as."""

    def __init__(self, rarities_by_table: list[Floats]) -> None:
        tables = [each for each in rarities_by_table if len(each)]
        shares = np.array([(each[:, None] > LIMITS).mean(axis=0) for each in tables])
        runs = np.array([float(len(each)) for each in tables])
        mean = shares.mean(axis=0)
        between = shares.var(axis=0) - (mean / runs[:, None]).mean(axis=0)
        self.shares: Floats = np.fmax(mean, 0.5 / runs.sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            shape = np.where(between > 0, np.clip(mean**2 / between, LEAST_SHAPE, MOST_SHAPE), LEAST_SHAPE)
        self.weights: Floats = np.fmin(shape / self.shares, MOST_WEIGHT)

    def find_limit(self, own: Floats, budget: float) -> float:
        """The lowest limit that good batches exceed no more often than the budget says; infinite if there is none."""
        expected = (self.weights * self.shares + (own[:, None] > LIMITS).sum(axis=0)) / (self.weights + len(own))
        affordable = np.flatnonzero(np.maximum.accumulate(expected[::-1])[::-1] <= budget)
        return float(LIMITS[affordable[0]]) if len(affordable) else np.inf
