"""Measure how rare a batch is: the rarity of its metrics, of its columns, and of the rarest column.

The rarity of a value is the negative logarithm of how often series of its kind are so far from their forecast, on many
tables and in the table itself. A fault moves several metrics of a column, so the rarity of a column adds those of its
three rarest metrics, the second and the third in part. Docs: docs/methods/history.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from headgate.learn.history.basics import find_basics, find_nulls, measure_nulls
from headgate.learn.history.forecast import Forecast, forecast_past
from headgate.learn.history.ranges import find_never_negative, find_widest_reaches, is_exact, make_range
from headgate.learn.history.rates import find_record_rates
from headgate.learn.history.series_kinds import CONSTANT, find_comparable, find_kinds
from headgate.learn.metric_traits import Family, MetricTraits
from headgate.learn.past import Past, numeric_values
from headgate.learn.pooled_rates import PooledRates
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.predicate import Predicate
from headgate.values.rarity_memory import NOTHING_REMEMBERED, BatchRarity, Part, RarityMemory

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]

RARITY = "rarity"
"""The name of the metric: `rarity(price)` is that of a column."""
RANKS: Floats = np.array([1.0, 0.5, 0.25])
"""How much the rarest metric of a column counts, the second and the third."""
TYPICAL_COLUMNS = 10.0
"""Columns of a table whose rarity is that of its rarest column; of more columns one is rarer by chance."""
LOG_FACTOR = 2.5
"""Rows and basics are compared by the logarithm of 1 + their surprise, times this: so limits are 10% apart."""
NOTABLE = 2.5
"""The rarity above which a value is remembered, and told as a reason."""
OWN_WEIGHT = 100.0
"""How many runs the pooled rate counts as beside those of the series itself."""
ALIKE = 0.9
"""A surprise is as large as an earlier one if it is at least this share of it."""
_SIZE = "size"
_UNCHANGED = "unchanged"  # two runs of few values may be equal by chance
_NOT_MEASURED = Undefined("nothing of it was measured")


def make_rarity_key(column: str) -> MetricKey:
    return MetricKey(RARITY, (column,))


def is_rarity(key: MetricKey) -> bool:
    return key.name == RARITY


@dataclass(frozen=True)
class Rarities:
    """How rare each value of the next batch is.

    `table` has the rarity of each metric (first axis) if its surprise is beyond so many reaches of the grid (second).
    """

    past: Past
    forecast: Forecast
    grid: Floats
    rates: Floats
    table: Floats
    scored: Flags
    basics: Flags
    nulls: Flags
    columns: Mapping[str, Indices]
    never_negative: Flags
    widest: Floats
    memory: RarityMemory

    @classmethod
    def of(
        cls,
        past: Past,
        pooled_rates: PooledRates,
        memory: RarityMemory = NOTHING_REMEMBERED,
        is_learned: Callable[[MetricKey], bool] = lambda _: True,
    ) -> Rarities:
        """What is rare after a past.

        Args:
            past: The runs before.
            pooled_rates: How often series of each kind surprise.
            memory: What is remembered of the table itself.
            is_learned: Whether a metric counts.
        """
        forecast, metrics = forecast_past(past), past.metrics
        kinds, basics = find_kinds(forecast, past.values, metrics), find_basics(forecast, metrics)
        rates = pooled_rates.value_rates(metrics, kinds, len(past))
        record_rates = find_record_rates(past.values, metrics)
        record_rates[list(past.free_ranges)] = 0.0  # all rows have the one value of a dated column
        rates = np.fmax(rates, record_rates[:, None])
        grid = np.array(pooled_rates.grid)
        counts = np.array([_count_alike(memory.surprises.get(str(each.key), ()), grid) for each in metrics])
        remembered = _count_remembered(past, memory)[:, None]
        rates = (OWN_WEIGHT * rates + counts.reshape(rates.shape)) / (OWN_WEIGHT + remembered)
        rarities = -np.log(np.fmax(rates, 1e-300))
        varies = np.array([each.family is Family.EXTREME for each in metrics], np.bool_) & (kinds != CONSTANT)
        counted = np.array([each.key.name != _UNCHANGED and is_learned(each.key) for each in metrics], np.bool_)
        known = find_comparable(past) & np.isfinite(forecast.centre).all(axis=0) & _find_present(past)
        scored = known & counted & (~varies | basics)
        return cls(
            past,
            forecast,
            grid,
            rates,
            np.hstack([np.zeros((len(metrics), 1)), rarities]),
            scored,
            basics & scored,
            find_nulls(forecast, metrics) & scored,
            _group_by_column(metrics, scored),
            find_never_negative(past.values, metrics),
            find_widest_reaches(forecast, past.values, metrics),
            memory,
        )

    def arrange(self, outcomes: Mapping[MetricKey, Outcome]) -> Floats:
        """The values of a batch in the order of the metrics; NaN where there is none."""
        values = numeric_values(outcomes)
        return np.array([values.get(each.key, np.nan) for each in self.past.metrics])

    def measure(self, values: Floats) -> Floats:
        """The rarity of values, an array of shape (..., metrics); 0 of what does not count."""
        surprises = self.forecast.surprise(values)
        steps = np.searchsorted(self.grid, np.nan_to_num(surprises), side="left")
        rarities: Floats = self.table[np.arange(len(self.past.metrics)), steps]
        return np.where(self.scored & np.isfinite(values), rarities, 0.0)

    def measure_columns(self, values: Floats) -> dict[str, Floats]:
        """The rarity of each column, of values of shape (..., metrics)."""
        rarities = self.measure(values)
        return {column: self.add_up(rarities[..., at]) for column, at in self.columns.items()}

    def add_up(self, rarities: Floats) -> Floats:
        """The rarity of a column from those of its metrics (last axis)."""
        largest = np.sort(rarities, axis=-1)[..., ::-1][..., : len(RANKS)]
        allowance = math.log(max(1, len(self.columns)) / TYPICAL_COLUMNS)
        return np.fmax(largest @ RANKS[: largest.shape[-1]] - allowance, 0.0)

    def measure_outcomes(self, outcomes: Mapping[MetricKey, Outcome]) -> dict[MetricKey, Outcome]:
        """The rarity of each column of a batch, as the outcome of a metric."""
        values = self.arrange(outcomes)
        found = self.measure_columns(values)
        return {
            make_rarity_key(column): Measured(round(float(found[column]), 3))
            if np.isfinite(values[at]).any()
            else _NOT_MEASURED
            for column, at in self.columns.items()
        }

    def measure_batch(self, outcomes: Mapping[MetricKey, Outcome]) -> BatchRarity:
        """How rare the parts of a batch are, and the surprises that are notable."""
        values = self.arrange(outcomes)
        surprises = np.fmin(self.forecast.surprise(values), self.grid[-1])
        notable = np.flatnonzero(self.measure(values) > NOTABLE).tolist()
        parts = {
            Part.COLUMNS: max((float(each) for each in self.measure_columns(values).values()), default=0.0),
            **{part: find_log_surprise(_find_largest(surprises[at])) for part, at in self.find_basics().items()},
        }
        less = np.fmin(measure_nulls(self.forecast, values), self.grid[-1])
        parts[Part.NULLS] = find_log_surprise(_find_largest(less[self.find_basics()[Part.NULLS]]))
        return BatchRarity(
            {part: round(rarity, 3) for part, rarity in parts.items()},
            {str(self.past.metrics[at].key): float(f"{surprises[at]:.3g}") for at in notable},
        )

    def find_basics(self) -> dict[Part, Indices]:
        """The indices of the number of rows, of the other basics, and of nulls."""
        is_size = np.array([each.key.name == _SIZE for each in self.past.metrics], np.bool_)
        return {
            Part.ROWS: np.flatnonzero(self.basics & is_size),
            Part.BASICS: np.flatnonzero(self.basics & ~is_size),
            Part.NULLS: np.flatnonzero(self.nulls),
        }

    def describe_metric(self, metric: MetricKey) -> str:
        """From what the range of a metric was learned, in a few words; empty if it has none."""
        index = next((at for at, each in enumerate(self.past.metrics) if each.key == metric), None)
        return "" if index is None else describe_series(self.forecast, index)

    def make_range(self, index: int, reach: float, *, has_upper_end: bool = True) -> Predicate | None:
        """The values of a metric whose surprise is at most this reach."""
        low, high = self.forecast.band_of(index, reach)
        return make_range(
            self.past.metrics[index],
            low,
            high if has_upper_end else math.inf,
            exact=is_exact(bool(self.forecast.constant[index]), reach),
            never_negative=bool(self.never_negative[index]),
        )


def find_log_surprise(surprise: float) -> float:
    """A surprise on the scale of limits.

    >>> round(find_log_surprise(9.0), 2), round(find_reach(5.76), 2)
    (5.76, 9.01)
    """
    return LOG_FACTOR * math.log1p(surprise)


def find_reach(limit: float) -> float:
    """The surprise at a limit: the inverse of `find_log_surprise`."""
    return math.expm1(limit / LOG_FACTOR)


def describe_series(forecast: Forecast, index: int) -> str:
    """From what the range of a metric was learned, in a few words."""
    if forecast.constant[index]:
        return f"equal in {forecast.runs[index]} runs"
    if season := int(forecast.season[index]):
        return forecast.phase_names[season - 1]
    return "trend" if forecast.trend[index] else f"{forecast.runs[index]} runs"


def _find_present(past: Past) -> Flags:
    """Which metrics are of columns that the newest run has; the schema tells of those that are gone."""
    newest = zip(past.metrics, np.isfinite(past.values[-1]).tolist(), strict=True)
    columns = {each.column for each, is_known in newest if is_known}
    return np.array([each.column in columns for each in past.metrics], np.bool_)


def _count_remembered(past: Past, memory: RarityMemory) -> Floats:
    """How many remembered runs have the column of each metric: of a column that is new, only those of the past."""
    columns = [set(schema.labels) for schema in past.schemas]
    new = {label: min(memory.runs, float(sum(label in each for each in columns))) for label in columns[-1] - columns[0]}
    return np.array([new.get(each.column, memory.runs) for each in past.metrics], np.float64)


def _count_alike(surprises: Sequence[tuple[float, int]], grid: Floats) -> Floats:
    """How many of the remembered surprises of a metric were about as large as each reach."""
    if not surprises:
        return np.zeros(len(grid))
    sizes = np.array([size for size, _ in surprises])
    counts: Floats = (sizes[:, None] > ALIKE * grid).sum(axis=0).astype(np.float64)
    return counts


def _find_largest(surprises: Floats) -> float:
    return float(np.nanmax(surprises, initial=0.0))


def _group_by_column(metrics: Sequence[MetricTraits], scored: Flags) -> dict[str, Indices]:
    """The indices of the metrics that count, by column. The number of rows has a limit of its own."""
    grouped: dict[str, list[int]] = {}
    for index in np.flatnonzero(scored).tolist():
        if metrics[index].column:
            grouped.setdefault(metrics[index].column, []).append(index)
    return {column: np.array(indices, np.intp) for column, indices in grouped.items()}
