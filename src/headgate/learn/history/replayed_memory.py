"""Replay runs: how rare each was after those before it, and what a table would remember of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace

from headgate.learn.calendar import Calendar
from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.rarity import Rarities
from headgate.learn.past import Past
from headgate.learn.pooled_rates import PooledRates
from headgate.learn.rarity_limit import BatchRates
from headgate.learn.remembered_rarity import remember_batch
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.rarity_memory import NOTHING_REMEMBERED, BatchRarity, Part, RarityMemory


def replay_memory(
    past: Past, pooled_rates: PooledRates, is_learned: Callable[[MetricKey], bool] = lambda _: True
) -> RarityMemory:
    """The memory that a table would have if it had been kept from the first of these runs on.

    The first runs have too few before them, and are not remembered.

    Args:
        past: The runs.
        pooled_rates: How often series of each kind surprise.
        is_learned: Whether a metric counts.
    """
    memory = NOTHING_REMEMBERED
    for row in range(MIN_RUNS, len(past)):
        batch = _measure_run(past, row, row, pooled_rates, memory, is_learned)
        memory = remember_batch(memory, batch, pooled_rates.batch_rates(Part.COLUMNS, row))
    return memory


def replay_rarities(
    past: Past,
    pooled_rates: PooledRates,
    runs: int,
    remembered: int,
    *,
    most: int | None = None,
    is_learned: Callable[[MetricKey], bool] = lambda _: True,
) -> list[BatchRarity]:
    """How rare each run is that has so many before it, in a table that learns from so many runs.

    Args:
        past: The runs.
        pooled_rates: How often series of each kind surprise.
        runs: The runs that are learned from.
        remembered: Of how many runs before it is remembered how rare they were.
        most: How many runs are measured, the oldest. Default: all.
        is_learned: Whether a metric counts.
    """
    rates = pooled_rates.batch_rates(Part.COLUMNS, runs)
    newest: deque[BatchRarity] = deque(maxlen=remembered)
    memory, batches = NOTHING_REMEMBERED, []
    for row in range(runs, len(past) if most is None else min(len(past), runs + most)):
        batch = _measure_run(past, row, runs, pooled_rates, memory, is_learned)
        batches.append(batch)
        is_full = len(newest) == remembered
        newest.append(batch)
        memory = _remember_all(newest, rates) if is_full else remember_batch(memory, batch, rates)
    return batches


def _remember_all(batches: Iterable[BatchRarity], rates: BatchRates) -> RarityMemory:
    memory = NOTHING_REMEMBERED
    for batch in batches:
        memory = remember_batch(memory, batch, rates)
    return memory


def _measure_run(
    past: Past,
    row: int,
    runs: int,
    pooled_rates: PooledRates,
    memory: RarityMemory,
    is_learned: Callable[[MetricKey], bool],
) -> BatchRarity:
    """How rare a run is after so many runs before it."""
    rarities = Rarities.of(_take_runs(past, row - runs, row), pooled_rates, memory, is_learned)
    values = zip(past.metrics, past.values[row].tolist(), strict=True)
    return rarities.measure_batch({each.key: Measured(value) for each, value in values if value == value})


def _take_runs(past: Past, first: int, row: int) -> Past:
    """The runs from one up to another, which is the next."""
    names = past.partitions[first:row]
    periods = () if past.calendar is None else past.calendar.periods[:-1]  # the last is that of the next batch
    times = {name: period for name, period in zip(past.partitions, periods, strict=False) if period is not None}
    calendar = Calendar.of(names, past.partitions[row], times)
    return replace(past, partitions=names, values=past.values[first:row], calendar=calendar, listed_days=None)
