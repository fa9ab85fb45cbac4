"""Find the rarity beyond which a batch is held, so that good batches are held as often as the budget says.

How rare good batches are differs from table to table. So the share of good batches beyond a limit is that of other
tables, and the table's own as soon as it has runs: the mean of the posterior of a Gamma prior.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.values.rarity_memory import NOTHING_REMEMBERED, Part, RarityMemory

Floats = npt.NDArray[np.float64]

STEP = 0.25
"""How far apart two limits are that can be chosen."""
LIMITS: Floats = np.arange(0.0, 60.0, STEP)
MOST_WEIGHT = 200.0
"""Runs that the evidence of other tables counts as at most beside those of the table."""
LEAST_SHAPE, MOST_SHAPE = 0.2, 3.0
"""Ends of the shape of the prior, whose estimate from few tables is rough."""
LEVEL_RUNS = 10.0
"""Runs that the level of other tables counts as beside those of the table."""
LEVEL_POWER = 0.5
"""By which power of its level the limit of a table is higher or lower than that of others."""
FORGIVEN_ALARMS = 1.0
"""False alarms beyond what the budget allows that do not lower the working budget."""


class BatchRates(msgspec.Struct, frozen=True):
    """How rare a part of a batch is in other tables: the mean share of their runs beyond each limit.

    `weights` says how many runs of the table itself each share counts as. `level` is the mean rarity, by which those of
    a table are compared with others; 0 if they are compared as they are. All are empty if nothing is known.
    """

    shares: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()
    level: float = 0.0

    def find_scale(self, memory: RarityMemory) -> float:
        """How many times as rare as those of other tables the batches of a table usually are, to a power."""
        if not self.level:
            return 1.0
        level = (LEVEL_RUNS * self.level + memory.runs * memory.level) / (LEVEL_RUNS + memory.runs)
        return float((level / self.level) ** LEVEL_POWER)


class Limit(NamedTuple):
    """A rarity that good batches exceed at a rate."""

    rarity: float
    rate: float


def find_common_level(rarities_by_table: Iterable[Sequence[float]]) -> float:
    """The level that the rarities of tables are compared with: the mean of the means of the tables."""
    means = [float(np.mean(each)) for each in rarities_by_table if len(each)]
    return round(float(np.mean(means)), 4) if means else 0.0


def count_rarities(rarities: Sequence[float], level: float = 0.0) -> dict[str, int]:
    """How many good batches of a table, oldest first, are in each step of rarity.

    Args:
        rarities: How rare the batches are.
        level: The level of all tables, with which those of this one are compared; 0 if they count as they are.

    >>> count_rarities([0.2, 0.3, 0.4])
    {'1': 1, '2': 2}
    """
    rates, memory, counts = BatchRates(level=level), NOTHING_REMEMBERED, Counter[int]()
    for rarity in rarities:
        counts[find_step(rarity / rates.find_scale(memory))] += 1
        runs = memory.runs
        memory = RarityMemory(runs + 1.0, level=(runs * memory.level + rarity) / (runs + 1.0))
    return {str(step): count for step, count in sorted(counts.items())}


def find_step(rarity: float) -> int:
    """How many of the limits a rarity exceeds, if there were limits without end."""
    return math.ceil(rarity / STEP)


def fit_batch_rates(tables: Iterable[Mapping[str, float]], level: float = 0.0) -> BatchRates:
    """The rates from the good batches of several tables, counted by steps of rarity.

    The weights come from how much the tables differ: the more alike they are, the more runs they count as.

    Args:
        tables: For each table how many batches are in each step (`count_rarities`).
        level: The level that they were compared with.
    """
    counted = [each for each in tables if each]
    if not counted:
        return BatchRates()
    runs = np.array([float(sum(each.values())) for each in counted])
    shares = np.array([_count_beyond(each) for each in counted]) / runs[:, None]
    mean = shares.mean(axis=0)
    between = shares.var(axis=0) - (mean / runs[:, None]).mean(axis=0)
    known: Floats = np.fmax(mean, 0.5 / runs.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        shape = np.where(between > 0, np.clip(mean**2 / between, LEAST_SHAPE, MOST_SHAPE), LEAST_SHAPE)
    weights = np.fmin(shape / known, MOST_WEIGHT)
    return BatchRates(tuple(np.round(known, 8).tolist()), tuple(np.round(weights, 3).tolist()), level)


def find_limit(rates: BatchRates, memory: RarityMemory, part: Part, budget: float) -> Limit | None:
    """The lowest limit that good batches exceed no more often than the budget says.

    None if there is no such limit, or nothing is known.

    Args:
        rates: What other tables tell of the part.
        memory: What is remembered of the table.
        part: The part.
        budget: The share of good batches.
    """
    if not rates.shares:
        return None
    weights = np.array(rates.weights)
    expected = (weights * np.array(rates.shares) + _count_beyond(memory.batches.get(part, {}))) / (
        weights + memory.runs
    )
    expected = np.maximum.accumulate(expected[::-1])[::-1]
    affordable = np.flatnonzero(expected <= budget)
    if not len(affordable):
        return None
    first = int(affordable[0])
    return Limit(round(float(LIMITS[first]) * rates.find_scale(memory), 2), float(expected[first]))


def find_working_budget(budget: float, memory: RarityMemory) -> float:
    """The budget that limits are found with: less than the stated one after more false alarms than it allows.

    Every batch that was held and accepted is a false alarm. So the share of good batches that are held comes back to
    the stated budget also in tables that are wilder than all others.

    >>> find_working_budget(0.01, RarityMemory(runs=100.0, alarms=2.0))
    0.01
    >>> find_working_budget(0.01, RarityMemory(runs=200.0, alarms=6.0))
    0.005
    """
    most = budget * memory.runs + FORGIVEN_ALARMS
    return budget if memory.alarms <= most else budget * most / memory.alarms


def _count_beyond(counts: Mapping[str, float]) -> Floats:
    """How many batches are rarer than each limit."""
    by_step = np.zeros(len(LIMITS) + 1)
    for step, count in counts.items():
        by_step[min(int(step), len(LIMITS))] += count  # rarer than every limit below this step
    beyond: Floats = by_step[::-1].cumsum()[::-1][1:]
    return beyond
