"""Profiles every column of a batch in one scan."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from headgate.display.blocks import Grid, Note
from headgate.display.page import Page, Paged
from headgate.display.table import Table
from headgate.engine.analysis import Analysis
from headgate.engine.analyze import measure_batch
from headgate.engine.batch import open_batch
from headgate.engine.progress import Progress
from headgate.learn.rules.column import (
    QUANTILES,
    SHARES,
    ColumnProfile,
    Lengths,
    Numbers,
    format_distinct,
    format_percent,
    quote_blank,
)
from headgate.metrics.approx_count_distinct import ApproxCountDistinct
from headgate.metrics.approx_quantile import ApproxQuantile
from headgate.metrics.base.metric import ColumnMetric
from headgate.metrics.completeness import Completeness
from headgate.metrics.data_type import DataType
from headgate.metrics.min import Min
from headgate.metrics.min_length import MinLength
from headgate.metrics.pattern_distribution import PatternDistribution
from headgate.metrics.size import Size
from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.quantiles import Quantiles
from headgate.metrics.text_min import TextMin
from headgate.metrics.value_distribution import ValueDistribution
from headgate.values.errors import MisuseError, did_you_mean
from headgate.values.outcome import Distribution
from headgate.values.schema import Column, Kind, Schema

# One metric for each state that a profile reads; the other numbers are computed from the same states.
_METRICS: tuple[type[ColumnMetric[Any]], ...] = (
    Completeness,
    ApproxCountDistinct,
    Min,
    ApproxQuantile,
    DataType,
    TextMin,
    MinLength,
    ValueDistribution,
    PatternDistribution,
)
_MAX_SHOWN = 100  # columns that a terminal or a notebook cell shows
_TOP_VALUES = 3  # frequent values in a column's line
_UNITS = {Kind.INTEGER: 1.0, Kind.BOOLEAN: 1.0, Kind.DATE: 86_400.0}


class Profile(Paged, Mapping[str, ColumnProfile]):
    """The profiles of a batch's columns by label: `profile["price"]`. It prints as one line for each column."""

    def __init__(self, rows: int, columns: Sequence[ColumnProfile]) -> None:
        self.rows = rows
        self._columns = {column.label: column for column in columns}

    def __getitem__(self, label: str) -> ColumnProfile:
        if label not in self._columns:
            raise KeyError(f"the profile has no column {label!r}; {did_you_mean(label, self._columns)}")
        return self._columns[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Profile) and (self.rows, self._columns) == (other.rows, other._columns)

    __hash__ = None  # type: ignore[assignment]

    @property
    def schema(self) -> Schema:
        """The columns that were profiled."""
        return Schema(tuple(Column(each.label, each.kind, each.type) for each in self.values()))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"rows": self.rows, "columns": {label: each.to_dict() for label, each in self.items()}}

    def table(self, most: int | None = None) -> Table:
        """A table of one line for each column, for the first `most` columns or all."""
        headers = ("column", "type", "present", "distinct", "min", "mean", "max", "most frequent")
        return Table(
            headers, tuple(_make_line(each) for each in list(self.values())[:most]), numeric=frozenset(range(2, 7))
        )

    def page(self) -> Page:
        table = self.table(_MAX_SHOWN)
        pictures = tuple(each.picture for each in list(self.values())[:_MAX_SHOWN])
        grid = Grid(
            table, widest=32, last=60, pictures=pictures, pictured=len(table.headers) - 1, picture="distribution"
        )
        return Page(self._title(), blocks=(grid, *map(Note, self._more_lines())))

    def _title(self) -> str:
        return f"{self.rows:,} rows, {len(self):,} column{'s' * (len(self) != 1)}"

    def _more_lines(self) -> list[str]:
        more = len(self) - _MAX_SHOWN
        return [f"... and {more:,} more; profile.table().text() has them all"] if more > 0 else []


def profile(
    data: Any, columns: Sequence[str] | None = None, progress: Callable[[Progress], None] | None = None
) -> Profile:
    """Profile every column, or the columns named, in one scan.

    `data` is anything that `hg.analyze` takes. On Spark the scan is one job, for any number of columns.

    >>> import pyarrow as pa
    >>> found = profile(pa.table({"price": ["9.5", "3", None], "region": ["EU", "US", "EU"]}))
    >>> found["price"].looks_like, found["price"].numbers.mean, found["region"].values.counts
    ('fractional', 6.25, {'EU': 2, 'US': 1})
    """
    batch = open_batch(data)
    wanted = _select_columns(batch.schema.columns, columns)
    metrics = [kind(column.label) for column in wanted for kind in _METRICS if column.kind in kind.accepts]
    analysis = measure_batch(batch, [Size(), *metrics], progress=progress)
    assert isinstance(analysis, Analysis)
    return _profile_of(analysis, wanted)


def _select_columns(columns: Sequence[Column], names: Sequence[str] | None) -> list[Column]:
    if names is None:
        return list(columns)
    known = {column.label: column for column in columns}
    for name in [names] if isinstance(names, str) else names:
        if name not in known:
            raise MisuseError(f"the batch has no column {name!r};", hint=did_you_mean(name, known))
    return [known[name] for name in dict.fromkeys([names] if isinstance(names, str) else names)]


def _profile_of(analysis: Analysis, columns: Sequence[Column]) -> Profile:
    rows = analysis.states.get(Size().state_key, Size.state()).rows  # type: ignore[attr-defined]
    return Profile(rows, [_ColumnReader(analysis, column, rows).make_profile() for column in columns])


class _ColumnReader(NamedTuple):
    """Makes the profile of one column from its states."""

    analysis: Analysis
    column: Column
    rows: int

    def find_state(self, kind: type[ColumnMetric[Any]]) -> Any:
        """The column's state for a metric; None if the metric does not accept the column's kind, or failed."""
        metric = kind(self.column.label)
        if self.column.kind not in kind.accepts or metric.key in self.analysis.failed:
            return None
        return self.analysis.states.get(metric.state_key, kind.state())

    def make_profile(self) -> ColumnProfile:
        present, looks = self.find_state(Completeness), self.find_state(DataType)
        distinct = self.find_state(ApproxCountDistinct)
        return ColumnProfile(
            label=self.column.label,
            kind=self.column.kind,
            type=self.column.type,
            rows=present.seen if self.column.repeated and present else self.rows,  # of values, if a row has many
            present=present.matched if present else 0,
            distinct=float(round(distinct.estimate())) if distinct else 0.0,
            looks={name: count for name, count in looks.by_type().items() if count} if looks else {},
            numbers=self.make_numbers(),
            lengths=_summarize_lengths(self.find_state(MinLength)),
            values=_find_distribution(self.find_state(ValueDistribution)),
            patterns=_find_distribution(self.find_state(PatternDistribution)),
            failed=self.list_failures(),
        )

    def make_numbers(self) -> Numbers | None:
        texts = self.find_state(TextMin)
        if texts is not None:
            return _summarize_numbers(texts.moments, texts.quantiles)
        return _summarize_numbers(
            self.find_state(Min), self.find_state(ApproxQuantile), _UNITS.get(self.column.kind, 0.0)
        )

    def list_failures(self) -> tuple[str, ...]:
        keys = [kind(self.column.label).key for kind in _METRICS]
        failed = self.analysis.failed
        return tuple(f"{key}: {failed[key].why}" for key in keys if key in failed)


def _summarize_numbers(moments: Moments | None, quantiles: Quantiles | None, unit: float = 0.0) -> Numbers | None:
    if moments is None or not moments.count or moments.low is None or moments.high is None:
        return None
    known = quantiles if quantiles is not None and quantiles.total else None
    splits = _find_splits(moments.low, moments.high, unit)
    return Numbers(
        count=moments.count,
        low=moments.low,
        high=moments.high,
        mean=moments.mean,
        stddev=math.sqrt(max(0.0, moments.second) / moments.count),
        quantiles=tuple(map(float, known.quantiles(QUANTILES))) if known else (),
        shares=tuple(np.diff(known.share_below(splits), prepend=0.0, append=1.0).tolist()) if known and splits else (),
    )


def _find_splits(low: float, high: float, unit: float) -> list[float]:
    """The points that split a range into at most SHARES parts of equal width; none for a range of width 0.

    Multiples of a unit (integers, days) are split between them, so that each part holds equally many.

    >>> _find_splits(1, 4, unit=1)
    [1.5, 2.5, 3.5]
    """
    count = (high - low) / unit + 1 if unit else math.inf
    if not count < 2**52:
        splits = [low + (high - low) * (part / SHARES) for part in range(1, SHARES)]
    else:
        width = math.ceil(count / SHARES)
        splits = [low + unit * (number - 0.5) for number in range(width, int(count), width)]
    rising = all(left < right for left, right in pairwise([low, *splits, high]))
    return splits if rising and all(map(math.isfinite, splits)) else []


def _summarize_lengths(moments: Moments | None) -> Lengths | None:
    if moments is None or moments.low is None or moments.high is None:
        return None
    return Lengths(int(moments.low), int(moments.high), moments.mean)


def _find_distribution(state: Frequencies | None) -> Distribution | None:
    return state.distribution() if state is not None and state.total else None


def _make_line(column: ColumnProfile) -> tuple[str, ...]:
    looks = column.looks_like
    kind = f"{column.type}: {looks}" if column.looks and looks != "string" else column.type
    present = format_percent(column.present, column.rows) if column.rows else "—"
    numbers = column.numbers if column.has_numbers else None
    ends = ("", "", "") if numbers is None else (numbers.low, numbers.mean, numbers.high)
    shown = [end if isinstance(end, str) else column.number(end) for end in ends]
    note = f"failed: {column.failed[0]}" if column.failed else _most_frequent(column)
    return (column.label, kind, present, format_distinct(column.distinct), *shown, note)


def _most_frequent(column: ColumnProfile) -> str:
    values = column.values
    if values is None or not values.counts:
        return "no value is frequent" if column.present and values is not None else ""
    if next(iter(values.counts.values())) == 1 and len(values.counts) > 1:
        return "every value occurs once"
    top = list(values.counts.items())[:_TOP_VALUES]
    more = len(values.counts) - _TOP_VALUES
    text = ", ".join(f"{quote_blank(label[:24])} {format_percent(count, values.total)}" for label, count in top)
    return f"{text}, …" if more > 0 or values.error else text
