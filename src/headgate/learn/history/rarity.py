"""Measure how rare a batch is: the rarity of its metrics, of its columns, and of the rarest column.

The rarity of a value is the negative logarithm of how often series of its kind are so far from their forecast, on many
tables and in the table itself. A fault moves several metrics of a column, so the rarity of a column adds those of its
three rarest metrics, the second and the third in part. Docs: docs/methods/history.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
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
from headgate.values.expectation import Expectation, Judgement, Source, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.predicate import Predicate
from headgate.values.rarity_memory import NOTHING_REMEMBERED, BatchRarity, Part, RarityMemory
from headgate.values.verdict import Verdict

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
USUAL_RATE = 0.001
"""How often good values of such series are outside of the range that is called usual."""
_SIZE, _COMPLETENESS, _DISTINCT = "size", "completeness", "approx_count_distinct"
_FAR_FEWER = 3.0  # times fewer rows, which are unlike others by chance
_FEW_VALUES = 0.2  # different values for each row, below which the number of rows does not change theirs
_ROWS_MARGIN = 1.5  # how much farther than the number of rows, as a factor, a metric moves that it explains
_UNCHANGED = "unchanged"  # two runs of few values may be equal by chance
_NOT_MEASURED = Undefined("nothing of it was measured")


def make_rarity_key(column: str) -> MetricKey:
    return MetricKey(RARITY, (column,))


def is_rarity(key: MetricKey) -> bool:
    return key.name == RARITY


class UsualRange(msgspec.Struct, frozen=True):
    """The range that good values of a metric are seldom outside of, and from what it was learned."""

    expectation: Expectation
    note: str


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
        rates = (OWN_WEIGHT * rates + counts.reshape(rates.shape)) / (OWN_WEIGHT + memory.runs)
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
        rarities, allowance = self.measure(values), self._find_allowance()
        return {column: np.fmax(_add_up(rarities[..., at]) - allowance, 0.0) for column, at in self.columns.items()}

    def _find_allowance(self) -> float:
        return math.log(max(1, len(self.columns)) / TYPICAL_COLUMNS)

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

    def tell_reasons(self, verdict: Verdict, outcomes: Mapping[MetricKey, Outcome]) -> Verdict:
        """The verdict in which a column that is too rare fails for the metrics that make it so.

        If the number of rows fails or the column is empty in part, and that explains the rest, it is skipped.
        """
        if not any(each.status is Status.FAIL and is_rarity(each.expectation.metric) for each in verdict.judgements):
            return verdict
        values = self.arrange(outcomes)
        failed = frozenset(each.expectation.metric for each in verdict.failures)
        told: list[Judgement] = []
        for judgement in verdict.judgements:
            if judgement.status is Status.FAIL and is_rarity(judgement.expectation.metric):
                told += self._explain_column(judgement, values, failed, outcomes)
            else:
                told.append(judgement)
        return Verdict(tuple(told))

    def _explain_column(
        self,
        judgement: Judgement,
        values: Floats,
        failed: frozenset[MetricKey],
        outcomes: Mapping[MetricKey, Outcome],
    ) -> list[Judgement]:
        """The judgements of the metrics that make a column rare, besides those that failed."""
        column, limit = judgement.expectation.metric.columns[0], judgement.expectation.predicate
        causes = [
            at
            for at, each in enumerate(self.past.metrics)
            if each.key in failed and each.key in (MetricKey(_SIZE), MetricKey(_COMPLETENESS, (column,)))
        ]
        if causes:
            farthest = max(self._find_move(at, values) for at in causes)
            has_other_rows = any(not self.past.metrics[at].column for at in causes)
            steady = [
                int(at)
                for at in self.columns[column]
                if int(at) not in causes and not self._is_consequence(int(at), values, farthest, has_other_rows)
            ]
            rarities = self.measure(self._reduce_noise(values, causes))
            if limit.holds(float(_add_up(rarities[steady])) - self._find_allowance()):
                named = " and ".join(str(self.past.metrics[at].key) for at in causes)
                why = f"{judgement.reason}; {named} explains it"
                return [msgspec.structs.replace(judgement, status=Status.SKIP, reason=why)]
        reasons = list(self._judge_metrics(judgement.expectation, values, outcomes))
        return [each for each in reasons if each.expectation.metric not in failed] if reasons else [judgement]

    def _reduce_noise(self, values: Floats, causes: Sequence[int]) -> Floats:
        """The values nearer to their forecasts, as far as fewer rows are noisier than as many as usual."""
        centres = self.forecast.centre.mean(axis=0)
        share = min(1.0, *(float(values[at] / centres[at]) for at in causes if centres[at]), 1.0)
        reduced: Floats = centres + (values - centres) * math.sqrt(max(share, 0.0))
        return reduced

    def _is_consequence(self, index: int, values: Floats, farthest: float, has_other_rows: bool) -> bool:
        """Whether another number of rows with a value, which moved so far, explains the value of a metric.

        Far fewer rows are farther from those of the run before by chance. They do not explain that one of a few values
        is gone.
        """
        traits = self.past.metrics[index]
        if traits.is_distance:
            return has_other_rows and farthest > math.log(_FAR_FEWER)
        if traits.key.name == _DISTINCT and self._find_centre(index) < _FEW_VALUES * self._find_centre(
            self._find_size()
        ):
            return False
        return traits.moves_with_rows and self._find_move(index, values) <= farthest + math.log(_ROWS_MARGIN)

    def _find_size(self) -> int | None:
        return next((at for at, each in enumerate(self.past.metrics) if each.key == MetricKey(_SIZE)), None)

    def _find_centre(self, index: int | None) -> float:
        """The value that is expected of a metric; 0 if there is none."""
        return 0.0 if index is None else float(self.forecast.centre[:, index].mean())

    def _find_move(self, index: int, values: Floats) -> float:
        """How far a value lies from its forecast, as the logarithm of a factor; infinitely far from or at 0."""
        centre = self._find_centre(index)
        ratio = float(values[index]) / centre if centre else 0.0
        return abs(math.log(ratio)) if 0 < ratio < math.inf else math.inf

    def find_usual_range(self, index: int, value: float | None = None) -> UsualRange | None:
        """The range of a metric that is usual; for a value, the widest such range that it is outside of.

        It is no wider than a reader believes. None if no range says so.
        """
        usual = int(np.searchsorted(-self.rates[index], -USUAL_RATE))
        if value is None:
            believed = int(np.searchsorted(self.grid, self.widest[index], side="right")) - 1
            step = min(usual, believed)
            found = self.make_range(index, float(self.grid[step])) if 0 <= step < len(self.grid) else None
            return None if found is None else self._name_range(index, found, float(self.rates[index, step]))
        for step in range(min(usual, len(self.grid) - 1), -1, -1):
            predicate = self.make_range(index, float(self.grid[step]))
            if predicate is not None and not predicate.holds(value):
                return self._name_range(index, predicate, float(self.rates[index, step]))
        return None

    def list_usual_ranges(self, column: str, most: int) -> list[UsualRange]:
        """The usual ranges of some metrics of a column, those first that readers ask for."""
        indices = sorted(self.columns.get(column, ()), key=lambda at: self.past.metrics[at].label.rank)
        ranges = (self.find_usual_range(int(at)) for at in indices)
        return list(itertools.islice((each for each in ranges if each is not None), most))

    def find_range(self, metric: MetricKey) -> UsualRange | None:
        """The usual range of a metric; None if it has none or does not count."""
        index = next(
            (at for at in self.columns.get(_column_of(metric), ()) if self.past.metrics[at].key == metric), None
        )
        return None if index is None else self.find_usual_range(int(index))

    def describe_metric(self, metric: MetricKey) -> str:
        """From what the range of a metric was learned, in a few words; empty if it has none."""
        index = next((at for at, each in enumerate(self.past.metrics) if each.key == metric), None)
        return "" if index is None else describe_series(self.forecast, index)

    def _judge_metrics(
        self, limit: Expectation, values: Floats, outcomes: Mapping[MetricKey, Outcome]
    ) -> Iterator[Judgement]:
        """The judgements of the metrics that make a column rare, the rarest first.

        A false alarm is as frequent as of the limit, which decides.
        """
        indices, rarities = self.columns.get(limit.metric.columns[0], ()), self.measure(values)
        rarest = sorted(indices, key=lambda at: -rarities[at])[: len(RANKS)]
        for index in rarest:
            found = self.find_usual_range(int(index), float(values[index])) if rarities[index] > NOTABLE else None
            if found is not None:
                expectation = msgspec.structs.replace(found.expectation, false_alarm=limit.false_alarm)
                yield expectation.judge(outcomes[expectation.metric])

    def _name_range(self, index: int, predicate: Predicate, rate: float) -> UsualRange:
        expectation = Expectation(self.past.metrics[index].key, predicate, Source.HISTORY, false_alarm=rate)
        return UsualRange(expectation, describe_series(self.forecast, index))

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


def _column_of(metric: MetricKey) -> str:
    return metric.columns[0] if metric.columns else ""


def _find_present(past: Past) -> Flags:
    """Which metrics are of columns that the newest run has; the schema tells of those that are gone."""
    newest = zip(past.metrics, np.isfinite(past.values[-1]).tolist(), strict=True)
    columns = {each.column for each, is_known in newest if is_known}
    return np.array([each.column in columns for each in past.metrics], np.bool_)


def _count_alike(surprises: Sequence[float], grid: Floats) -> Floats:
    """How many of the remembered surprises of a metric were about as large as each reach."""
    if not surprises:
        return np.zeros(len(grid))
    counts: Floats = (np.array(surprises)[:, None] > ALIKE * grid).sum(axis=0).astype(np.float64)
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


def _add_up(rarities: Floats) -> Floats:
    """The rarity of a column from those of its metrics (last axis)."""
    largest = np.sort(rarities, axis=-1)[..., ::-1][..., : len(RANKS)]
    total: Floats = largest @ RANKS[: largest.shape[-1]]
    return total
