"""Propose limits on the novelty of a batch, each with its false alarm rate."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from headgate.learn.novelty.model import NOVELTY, Novelty
from headgate.learn.novelty.neighbours import aggregate_nearest, pairwise_gaps
from headgate.learn.past import Past
from headgate.learn.pooled_rates import PooledRates
from headgate.values.expectation import Expectation, Source
from headgate.values.outcome import Undefined
from headgate.values.predicate import Between
from headgate.values.proposal import Proposal

Floats = npt.NDArray[np.float64]

RATIO_STEP = 0.1  # the ratio that one unit of surprise stands for: so the grid has many limits between 1 and 2
TAIL_EXPONENT = 2.5  # the tail of distances is assumed to fall at least as fast as this power (docs/methods/novelty.md)


def propose_novelty(novelty: Novelty, pooled_rates: PooledRates) -> list[Proposal]:
    """A limit on the novelty at each reach of the grid, the lowest first.

    No limit is below the ratio of the newest run itself, which was good.
    """
    newest = _measure_newest(novelty)
    note = f"{len(novelty.points)} runs, {len(novelty.features.indices)} metrics"
    rates = novelty_rates(novelty, pooled_rates).tolist()
    limits = dict(zip(map(ratio_limit, pooled_rates.grid), rates, strict=True))  # of equal ones the last is the rarest
    return [
        Proposal(Expectation(NOVELTY, Between(high=high), Source.NOVELTY, false_alarm=rate), note=note)
        for high, rate in sorted(limits.items())
        if rate < 1 and newest <= high
    ]


def ratio_limit(reach: float) -> float:
    """The ratio at a reach of the grid, rounded upwards.

    >>> ratio_limit(10.0), ratio_limit(1e-6)
    (2.0, 1.01)
    """
    return math.ceil(round(100 * (1 + RATIO_STEP * reach), 6)) / 100


def novelty_surprises(past: Past, rows: Floats) -> Floats:
    """The surprise of the novelty of next batches, given as rows with a value for each metric of the past.

    NaN if the past is too short. The pooled rates of novelty are computed from it.
    """
    novelty = Novelty.learn(past)
    if isinstance(novelty, Undefined):
        return np.full(len(rows), np.nan)
    return ratio_surprise(novelty.scores_of(novelty.features.scale_rows(rows)) / novelty.usual)


def ratio_surprise(ratios: Floats) -> Floats:
    """Ratios as surprises, on the grid of the pooled rates: 0 up to a ratio of 1, then 1 for each `RATIO_STEP`.

    >>> ratio_surprise(np.array([0.5, 1.0, 2.0])).tolist()
    [0.0, 0.0, 10.0]
    """
    surprises: Floats = np.fmax(ratios - 1, 0.0) / RATIO_STEP
    return surprises


def novelty_rates(novelty: Novelty, pooled_rates: PooledRates) -> Floats:
    """The false alarm rate at each reach of the grid: the larger of a theoretical bound and the pooled rate.

    Of K + 1 exchangeable runs, the last lies farther out than the j-th farthest of the others with probability
    j / (K + 1). It lies r times as far with r^-2.5 of that, if the tail of distances falls at least as fast as x^-2.5.
    """
    runs = len(novelty.points)
    ratios = 1 + RATIO_STEP * np.array(pooled_rates.grid)
    bound = ratios**-TAIL_EXPONENT * novelty.runs_beyond_usual / (runs + 1)
    pooled = pooled_rates.table_rates(NOVELTY.name, runs)
    return bound if (pooled == 1.0).all() else np.fmax(pooled, bound)


def _measure_newest(novelty: Novelty) -> float:
    """The ratio of the newest run among the others."""
    distances = pairwise_gaps(novelty.points[-1:], novelty.points[:-1], novelty.cap).distances
    ratio = float(aggregate_nearest(distances, novelty.neighbours, novelty.aggregate)[0] / novelty.usual)
    return ratio if math.isfinite(ratio) else 0.0
