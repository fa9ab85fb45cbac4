"""How often series of a kind surprise, pooled over feeds: curves of each metric, shrunk towards those of its family."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cache

import numpy as np
import numpy.typing as npt

from benchmarks.history.feeds import Feed
from benchmarks.rarity.surprises import CONSTANT, VARIATIONS, ReplayedFeed, replay_feed
from headgate.learn.metric_traits import is_distance, traits_of
from headgate.values.key import MetricKey

GRID = np.array((1e-6, 0.1, 0.3, *np.round(np.logspace(0, 5, 31), 3)))
PRIOR = 300.0
"""How many values a family weighs beside one of its metrics, and all kinds of series beside one."""
MOST_VALUES = 2_000.0
"""A feed counts as no more values of a metric than this, lest the longest speak for all."""
SHARE, NUMBER, EXTREME = "share", "number", "extreme"
_SPREAD = "stddev"  # one value far away makes it as large as an extreme
Floats = npt.NDArray[np.float64]
Key = tuple[str, int, int]
Counts = dict[Key, Floats]
ALL_KINDS = 99


@cache
def find_family(name: str) -> str:
    """The metrics whose series surprise alike: shares and distances, what one row alone can make, and numbers."""
    traits = traits_of(MetricKey(name, ("x",)))
    if traits.is_extreme or name == _SPREAD:
        return EXTREME
    return SHARE if traits.share or is_distance(traits.key) else NUMBER


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
                family = f"*{find_family(name)}"
                for key in ((name, kind), (family, kind), *([(family, ALL_KINDS)] if kind != CONSTANT else [])):
                    counts[(*key, length)] += binned
    return counts


class Curves:
    """The rates at which series exceed each reach of the grid, from the feeds that are given."""

    def __init__(self, feeds: Iterable[Feed]) -> None:
        self._beyond: dict[Key, Floats] = defaultdict(lambda: np.zeros(len(GRID)))
        self._seen: dict[Key, float] = defaultdict(float)
        for feed in feeds:
            for key, binned in count_surprises(feed).items():
                weight = min(1.0, MOST_VALUES / binned.sum())
                self._seen[key] += weight * binned.sum()
                self._beyond[key] += weight * binned[::-1].cumsum()[::-1][1:]

    def list_rates(self, replayed: ReplayedFeed, length: int) -> Floats:
        """The rates of each metric (first axis) if its series is of each kind (second) at each reach (third)."""
        kinds = range(CONSTANT, len(VARIATIONS) + 1)
        found = {
            name: np.array([self._find_rates(name, kind, length) for kind in kinds])
            for name in {name for name, _ in replayed.metrics}
        }
        return np.array([found[name] for name, _ in replayed.metrics])

    def _find_rates(self, name: str, kind: int, length: int) -> Floats:
        family = f"*{find_family(name)}"
        whole = (family, CONSTANT if kind == CONSTANT else ALL_KINDS, length)
        rates: Floats = (self._beyond[whole] + 0.5) / (self._seen[whole] + 1.0)
        for key in [(family, kind, length)] * (kind != CONSTANT) + [(name, kind, length)]:
            rates = (self._beyond[key] + PRIOR * rates) / (self._seen[key] + PRIOR)
        return rates
