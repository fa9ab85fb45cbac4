"""The share of held batches with its interval, in which batches of one dataset are not independent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from benchmarks.history.feeds import HELD_OUT
from headgate.stats.intervals import wilson

DRAWS, SEED = 10_000, 19


class Share(NamedTuple):
    """Held of judged batches, and the interval of the share: from draws of datasets, and no narrower than Wilson's."""

    held: int
    judged: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.held / max(1, self.judged)

    def __str__(self) -> str:
        return f"{self.held} of {self.judged:,} ({self.share:.1%}, 95% interval {self.low:.1%} to {self.high:.1%})"


def estimate(judged: Iterable[tuple[str, bool]]) -> Share:
    """The share of batches that are held, given the feed of each and whether it is held."""
    by_dataset: dict[str, list[int]] = {}
    for feed, held in judged:
        of_dataset = by_dataset.setdefault(_name_dataset(feed), [0, 0])
        of_dataset[0] += held
        of_dataset[1] += 1
    if not by_dataset:
        return Share(0, 0, 0.0, 1.0)
    table = np.array(list(by_dataset.values()), np.float64)
    drawn = np.random.default_rng(SEED).integers(0, len(table), (DRAWS, len(table)))
    held_counts, judged_counts = table[drawn].sum(axis=1).T
    low, high = np.quantile(held_counts / judged_counts, (0.025, 0.975))
    counts = int(table[:, 0].sum()), int(table[:, 1].sum())
    least = wilson(*counts)  # draws of datasets that have no hold tell nothing of how many there may be
    return Share(*counts, min(float(low), least[0]), max(float(high), least[1]))


def _name_dataset(feed: str) -> str:
    """Feeds of one publisher are one dataset: they change together."""
    folder, _, name = feed.partition("/")
    return name if folder == HELD_OUT else folder
