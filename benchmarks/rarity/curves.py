"""How often series of a kind surprise, counted on each feed and pooled over feeds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cache

import numpy as np
import numpy.typing as npt

from benchmarks.history.feeds import Feed
from benchmarks.rarity.surprises import ReplayedFeed, replay_feed
from headgate.learn.history.series_kinds import CONSTANT, VARIATIONS
from headgate.learn.metric_traits import MetricTraits, traits_of
from headgate.learn.pooled_rates import VARYING, PooledRates, RateCurve, make_curve_key, name_family
from headgate.values.key import MetricKey

GRID = (1e-6, 0.1, 0.3, *np.round(np.logspace(0, 5, 31), 3).tolist())
MOST_VALUES = 2_000.0
"""A feed counts as no more values of a metric than this, lest the longest speak for all."""
Floats = npt.NDArray[np.float64]
Counts = dict[str, Floats]


@cache
def list_traits(name: str) -> MetricTraits:
    """The traits of a metric of some column."""
    return traits_of(MetricKey(name, ("x",)))


@cache
def read_feed(feed: Feed) -> ReplayedFeed:
    return replay_feed(feed)


@cache
def count_surprises(feed: Feed) -> Counts:
    """How many values of each metric and family surprised up to each reach, by the kind of series and the length."""
    replayed = read_feed(feed)
    names = np.array([name for name, _ in replayed.metrics])
    counts: Counts = defaultdict(lambda: np.zeros(len(GRID) + 1))
    for run in replayed.good:
        for length, found in run.lengths.items():
            reaches = np.searchsorted(GRID, found.surprises, side="left")
            codes = found.metrics * (len(VARIATIONS) + 2) + found.kinds + 1
            for code in np.unique(codes):
                mine = codes == code
                name, kind = str(names[found.metrics[mine][0]]), int(found.kinds[mine][0])
                binned = np.bincount(reaches[mine], minlength=len(GRID) + 1)
                family = name_family(list_traits(name).family)
                for key in ((name, kind), (family, kind), *([(family, VARYING)] if kind != CONSTANT else [])):
                    counts[make_curve_key(*key, length)] += binned
    return counts


def pool_counts(feeds: Iterable[Feed]) -> dict[str, RateCurve]:
    """The curves of all metrics and families from the feeds that are given."""
    beyond: dict[str, Floats] = defaultdict(lambda: np.zeros(len(GRID)))
    seen: dict[str, float] = defaultdict(float)
    for feed in feeds:
        for key, binned in count_surprises(feed).items():
            weight = min(1.0, MOST_VALUES / binned.sum())
            seen[key] += weight * binned.sum()
            beyond[key] += weight * binned[::-1].cumsum()[::-1][1:]
    return {key: make_curve(seen[key], beyond[key]) for key in seen}


def make_curve(seen: float, beyond: Floats) -> RateCurve:
    """A curve of so many values, and how many of them are beyond each reach."""
    return RateCurve(round(float(seen), 1), tuple(np.round(beyond / seen, 6).tolist()))


def list_rates(pooled_rates: PooledRates, replayed: ReplayedFeed, length: int) -> Floats:
    """The rates of each metric (first axis) if its series is of each kind (second) at each reach (third)."""
    metrics = [list_traits(name) for name, _ in replayed.metrics]
    kinds = range(CONSTANT, len(VARIATIONS) + 1)
    return np.stack([pooled_rates.value_rates(metrics, np.full(len(metrics), kind), length) for kind in kinds], axis=1)
