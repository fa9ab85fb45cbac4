"""Make up for a memory that was not kept, by replaying the runs that are learned from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from headgate.learn.calendar import Calendar
from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.rarity import Rarities
from headgate.learn.past import Past
from headgate.learn.pooled_rates import PooledRates
from headgate.learn.remembered_rarity import remember_batch
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.rarity_memory import NOTHING_REMEMBERED, Part, RarityMemory


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
        rarities = Rarities.of(_take_runs_before(past, row), pooled_rates, memory, is_learned)
        values = zip(past.metrics, past.values[row].tolist(), strict=True)
        batch = rarities.measure_batch({each.key: Measured(value) for each, value in values if value == value})
        memory = remember_batch(memory, batch, pooled_rates.batch_rates(Part.COLUMNS, row))
    return memory


def _take_runs_before(past: Past, row: int) -> Past:
    names = past.partitions[:row]
    calendar = Calendar.of(names, past.partitions[row])
    return replace(past, partitions=names, values=past.values[:row], calendar=calendar, listed_days=None)
