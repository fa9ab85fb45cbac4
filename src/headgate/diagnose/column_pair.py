"""A column of a batch beside the same column of the runs before, and how much of the difference a fault explains."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from headgate.diagnose.column_profile import ColumnContents
from headgate.learn.past import Past
from headgate.metrics.base.hashing import hash_label
from headgate.values.key import MetricKey
from headgate.values.schema import NUMERIC, TEMPORAL, Column, Kind

Floats = npt.NDArray[np.float64]
NumberMap = Callable[[Floats], Floats]

NULLS, SHAPE, VALUES, PATTERNS, LENGTHS, DISTINCT = "nulls", "shape", "values", "patterns", "lengths", "distinct"
_LEAST = {NULLS: 0.002, SHAPE: 0.01, VALUES: 0.005, PATTERNS: 0.005, LENGTHS: 0.02, DISTINCT: 0.05}
_LISTED = 0.95  # of the values, from which on all are compared
_MOSTLY_LISTED = 0.9
_MORE = 0.05  # of the rows, that may have what a part of the usual rows would not
_FREQUENT = 0.01
_PLAIN = 0.3  # a difference that is plain to see
_FEW_RUNS = 6
_FEWER, _AS_MANY = 0.7, 1.05  # of the rows before
_FAR_FEWER = 0.5  # of the rows before
_SAMPLING = 1.6  # by how much more than its expected size a difference of two samples may be


@dataclass(frozen=True)
class ColumnHistory:
    """The values of metrics in the good runs before."""

    past: Past

    @cached_property
    def _positions(self) -> dict[MetricKey, int]:
        return {each.key: at for at, each in enumerate(self.past.metrics)}

    def read(self, key: MetricKey) -> Floats:
        """The values of a metric, oldest first, without those that are unknown; none if it was never measured."""
        if key not in self._positions:
            return np.empty(0)
        series = self.past.values[:, self._positions[key]]
        return series[np.isfinite(series)]


@dataclass(frozen=True)
class ColumnPair:
    """A column of a batch and of the newest good run.

    `step` is by how many seconds timestamps move from that run to the batch. `noise` is how far each kind of difference
    lies apart in good batches. `secret` is the key with which the past hides values. `usual_mean` is the mean of the
    numbers over all runs; NaN if it follows a trend, or is not known. `mean_noise` is by what part the mean usually
    changes from run to run; NaN if that is not known.
    """

    before: ColumnContents
    now: ColumnContents
    step: float = 0.0
    noise: Mapping[str, float] = field(default_factory=dict)
    secret: bytes | None = None
    merged: Mapping[str, float] = field(default_factory=dict)
    usual_mean: float = math.nan
    mean_noise: float = math.nan

    @classmethod
    def of(cls, now: ColumnContents, old: Column, history: ColumnHistory) -> ColumnPair:
        """A column of a batch beside one of the past."""
        past = history.past
        before = ColumnContents.of(old, past.states)
        merged = ColumnContents.of(old, past.merged).values
        step = _find_step(history, before) if before.kind in TEMPORAL else 0.0
        mean, changes = _find_usual_mean(history, before), _measure_mean_noise(history, before)
        return cls(before, now, step, _measure_noise(history, before, now), past.secret, merged, mean, changes)

    def hold(self, now: ColumnContents) -> ColumnPair:
        """Another column of the batch beside this one of the past, with what is usual for this one."""
        return replace(self, now=now)

    @property
    def label(self) -> str:
        return self.now.label

    @property
    def is_text(self) -> bool:
        return self.before.kind is Kind.STRING and self.now.kind is Kind.STRING

    @property
    def is_ordered(self) -> bool:
        """Whether both have numbers or times of one kind, so that their distributions can be compared."""
        return (
            self.before.numbers is not None
            and self.now.numbers is not None
            and (self.before.kind in TEMPORAL) == (self.now.kind in TEMPORAL)
        )

    @property
    def is_numeric(self) -> bool:
        """Whether both have numbers, and more than two of them are possible."""
        return (
            self.is_ordered
            and self.before.kind not in TEMPORAL
            and Kind.BOOLEAN not in (self.before.kind, self.now.kind)
        )

    @cached_property
    def decimal_places(self) -> int:
        """How many digits the values of a decimal column have after the point."""
        return max((len(text.partition(".")[2]) for text in self.now.values), default=0)

    # --- values

    def name_value(self, text: str) -> str:
        """What the past knows a value of the batch by."""
        if self.secret is None or not self.before.is_hashed or self.now.is_hashed:
            return text
        return hash_label(text, self.secret)

    def knows_value(self, text: str) -> bool:
        """Whether a run before had a value among its frequent ones."""
        name = self.name_value(text)
        return name in self.before.values or name in self.merged

    @cached_property
    def named(self) -> dict[str, float]:
        """The shares of the values of the batch, by what the past knows them by."""
        return {self.name_value(text): share for text, share in self.now.values.items()}

    # --- differences, each between 0 and 1

    @cached_property
    def baseline(self) -> dict[str, float]:
        """How far the batch lies from the past, beyond what is usual."""
        raw = {
            NULLS: abs(self.now.complete - self.before.complete),
            VALUES: measure_difference(self.named, self.before.values),
            PATTERNS: measure_difference(self.now.patterns, self.before.patterns),
            LENGTHS: self.compare_lengths(),
            DISTINCT: self.compare_distinct(),
        }
        if self.is_ordered:
            raw[SHAPE] = self.compare_shape(self.cdf_before)
        return {name: self.find_excess(name, value) for name, value in raw.items()}

    @cached_property
    def total(self) -> float:
        """All that is different, beyond what is usual."""
        return sum(self.baseline.values())

    def ignore_nulls(self) -> ColumnPair:
        """The same values in as many rows as if no more of them were missing than usual."""
        rows = round(self.now.present / self.before.complete) if self.before.complete else self.now.rows
        return replace(self, now=replace(self.now, rows=max(rows, self.now.present)))

    def find_excess(self, name: str, value: float) -> float:
        return max(0.0, value - self.noise.get(name, _LEAST[name]))

    def may_be_left(self, now: float, before: float) -> bool:
        """Whether so many rows are no more than usual, and only a larger share since far fewer rows came."""
        return self.now.rows < _FEWER * self.before.rows and now <= _AS_MANY * before

    def may_be_part(self, kept: float) -> bool:
        """Whether the values may be those of a part of the usual rows: nothing is in more rows than it usually is."""
        more = {}
        if min(self.now.listed, self.before.listed) > _MOSTLY_LISTED:
            usual = self.before.values
            more[VALUES] = sum(max(0.0, share - usual.get(name, 0.0) / kept) for name, share in self.named.items())
        if self.is_ordered and len(self.grid):
            ahead = self.cdf_now - self.cdf_before / kept
            more[SHAPE] = float((ahead - np.minimum.accumulate(np.minimum(ahead, 0.0))).max())
        return all(value <= _MORE + 2 * self.noise.get(name, 0.0) for name, value in more.items())

    def measure_unexplained(self, tolerance: float = 0.0, **left: float) -> float:
        """What is left of the difference if a fault leaves these parts of it, and the others as they are.

        Rows that a fault happens to are seldom drawn by chance, so what is left of a column may be unlike the whole of
        it by the `tolerance`.

        A part that is large counts as one that is just plain to see: so of a column whose numbers are a hundred times
        as large, little may be left.
        """
        if not self.total:
            return 1.0
        rest = {**self.baseline, **{name: self.find_excess(name, value) for name, value in left.items()}}
        if tolerance:
            rest = {name: max(0.0, value - tolerance) for name, value in rest.items()}
        return sum(rest.values()) / sum(min(_PLAIN, each) for each in self.baseline.values())

    def compare_lengths(self) -> float:
        if self.now.lengths is None or self.before.lengths is None:
            return 0.0
        one, two = self.now.lengths.mean, self.before.lengths.mean
        return abs(one - two) / max(one, two, 1.0)

    def compare_distinct(self) -> float:
        one, two = self.now.distinct, self.before.distinct
        return min(1.0, abs(math.log(one / two)) / math.log(10)) if one and two else 0.0

    @cached_property
    def grid(self) -> Floats:
        """Where distributions are compared: the quantiles of both."""
        return np.unique(np.concatenate([self.now.points, self.before.points + self.step]))

    @cached_property
    def cdf_now(self) -> Floats:
        return self.now.share_up_to(self.grid)

    @cached_property
    def cdf_before(self) -> Floats:
        """The distribution that the batch should have."""
        return self.before.share_up_to(self.grid - self.step)

    def compare_shape(self, cdf: Floats) -> float:
        """How far the distribution of the batch lies from another, on average over its ranks."""
        return float(np.abs(self.cdf_now - cdf).mean()) if len(cdf) else 0.0


def measure_difference(one: Mapping[str, float], two: Mapping[str, float]) -> float:
    """Half of the sum of the changes of shares; what neither names is one value more.

    Of columns with more values than are listed, only the frequent ones are compared.

    >>> measure_difference({"a": 0.5, "b": 0.5}, {"a": 1.0})
    0.5
    """
    if not one or not two:
        return 0.0
    listed = [sum(each.values()) for each in (one, two)]
    if min(listed) >= _LISTED:
        named = sum(abs(one.get(name, 0.0) - two.get(name, 0.0)) for name in {*one, *two})
        return 0.5 * (named + abs(listed[0] - listed[1]))
    frequent = [name for name in {*one, *two} if max(one.get(name, 0.0), two.get(name, 0.0)) >= _FREQUENT]
    return 0.5 * sum(abs(one.get(name, 0.0) - two.get(name, 0.0)) for name in frequent)


def map_shares(shares: Mapping[str, float], change: Callable[[str], str]) -> dict[str, float]:
    """Shares after each label is changed; labels that become equal are added up."""
    changed: dict[str, float] = defaultdict(float)
    for label, share in shares.items():
        changed[change(label)] += share
    return dict(changed)


# --- what is usual


def _find_step(history: ColumnHistory, before: ColumnContents) -> float:
    """By how many seconds the middle of a column's timestamps moves from the newest run to the batch."""
    key = MetricKey("median", (before.label,))
    if key not in history.past.shifted or before.numbers is None:
        return 0.0
    series = history.read(key)
    return float(series[-1] - before.numbers.quantile(0.5)) if len(series) else 0.0


def _find_usual_mean(history: ColumnHistory, before: ColumnContents) -> float:
    """The mean of the numbers over all runs, if the newest runs are like the others."""
    means = history.read(MetricKey("mean", (before.label,)))
    if before.kind not in NUMERIC or len(means) < _FEW_RUNS:
        return math.nan
    half = len(means) // 2
    early, late = means[:half], means[half:]
    error = math.sqrt(float(np.var(early)) / len(early) + float(np.var(late)) / len(late))
    return float(means.mean()) if abs(float(early.mean() - late.mean())) <= 3 * error else math.nan


def _measure_mean_noise(history: ColumnHistory, before: ColumnContents) -> float:
    """By what part the mean of the numbers usually changes from run to run."""
    means = history.read(MetricKey("mean", (before.label,)))
    if before.kind not in NUMERIC or len(means) < _FEW_RUNS or not (np.all(means > 0) or np.all(means < 0)):
        return math.nan
    return float(np.sqrt(np.mean(np.diff(np.log(np.abs(means))) ** 2)))


def _measure_noise(history: ColumnHistory, before: ColumnContents, now: ColumnContents) -> dict[str, float]:
    """How large each kind of difference is between good batches: by those before, or by chance if they are few."""

    def read(name: str) -> Floats:
        return history.read(MetricKey(name, (before.label,)))

    moves = (
        MetricKey("median", (before.label,)) in history.past.shifted
    )  # then distances tell no more than that it moves
    rows = 1 / max(1, now.present) + 1 / max(1, before.present)
    spread = before.complete * (1 - before.complete) * (1 / max(1, now.rows) + 1 / max(1, before.rows))
    counts, lengths = read("approx_count_distinct"), read("str_len")
    # a batch of far fewer rows lies apart by chance more than those before do
    least = rows if now.present < _FAR_FEWER * before.present else 0.0
    found = {
        NULLS: max(_find_move(read("completeness")), _SAMPLING * math.sqrt(spread)),
        SHAPE: max(
            _choose_noise(
                np.empty(0) if moves else read("ks_dist"), max(0.4 * _SAMPLING * math.sqrt(rows), 0.05 * moves)
            ),
            0.4 * _SAMPLING * math.sqrt(least),
        ),
        VALUES: max(
            _choose_noise(read("value_l1"), _expect_difference(before.values, rows)),
            _expect_difference(before.values, least),
        ),
        PATTERNS: max(
            _choose_noise(read("pattern_l1"), _expect_difference(before.patterns, rows)),
            _expect_difference(before.patterns, least),
        ),
        LENGTHS: _find_move(lengths) / max(1.0, float(lengths[-1])) if len(lengths) else 0.0,
        DISTINCT: _find_move(np.log(counts[counts > 0])) / math.log(10) if len(counts) else 0.0,
    }
    return {name: max(_LEAST[name], value) for name, value in found.items()}


def _choose_noise(distances: Floats, by_chance: float) -> float:
    """Half of the distance that batches seldom exceed; what is expected by chance where too few are known."""
    if len(distances) < _FEW_RUNS:
        return by_chance
    return 0.55 * float(np.quantile(distances, 0.95))


def _find_move(series: Floats) -> float:
    """How far values lie from the newest one, but for a tenth."""
    return float(np.quantile(np.abs(series - series[-1]), 0.9)) if len(series) else 0.0


def _expect_difference(shares: Mapping[str, float], rows: float) -> float:
    """The difference of two samples of these shares that is expected by chance, and some more."""
    known = np.array(list(shares.values()))
    return float(_SAMPLING * 0.4 * np.sqrt(known * (1 - np.minimum(known, 1.0)) * rows).sum())
