"""Charts of a page, made from the runs of a dataset."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
from markupsafe import Markup

from headgate.display.numbers import format_share
from headgate.explain.metric_names import format_allowed, tells_missing
from headgate.learn.metric_traits import MetricTraits
from headgate.metrics.states.frequencies import Frequencies
from headgate.metrics.states.quantiles import Quantiles
from headgate.report.chart import Band, TrendLine, draw_trend
from headgate.report.compare import BEFORE, Bar, Undo, bars_of, draw_histogram
from headgate.report.run_series import RunSeries
from headgate.report.words import describe_metric, describe_subject, describe_value
from headgate.store.port import HistoryStore
from headgate.values.expectation import Judgement
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, OneOf, Predicate
from headgate.values.run import TRUSTED, Revision, Run
from headgate.values.schema import TEMPORAL, Column


class Chart(msgspec.Struct, frozen=True):
    """The chart of a metric, with its title and what was expected of it."""

    title: str
    expected: str
    svg: Markup


def chart_of(runs: RunSeries, key: MetricKey, judgement: Judgement | None = None) -> Chart:
    """The chart of a metric over the runs; with a judgement, also the range expected of the last value."""
    traits = runs.traits(key)
    predicate = None if judgement is None else judgement.expectation.predicate
    band = _make_band(predicate)
    expected = "" if predicate is None else format_allowed(traits, predicate)
    format_value: Callable[[float], str] = partial(describe_value, traits, predicate=predicate, digits=4)
    if tells_missing(traits):
        format_value = format_share
        band = band and Band(_complement(band.high), _complement(band.low))
    title = describe_metric(traits, key) if judgement is None else describe_subject(traits, judgement.expectation)
    line = TrendLine(title, runs.partitions, runs.plain_values(key), runs.marks, format_value, band, expected)
    return Chart(title, expected, draw_trend(line))


def _complement(end: float | None) -> float | None:
    return None if end is None else 1 - end


def _make_band(predicate: Predicate | None) -> Band | None:
    return Band(predicate.floor, predicate.ceiling) if isinstance(predicate, Between | OneOf) else None


class Distributions:
    """Compares the states of a run with those of the accepted runs before it."""

    def __init__(self, store: HistoryStore, run: Run) -> None:
        self._now = run.states
        self._store = store
        self._before: tuple[Revision, ...] = store.last(run.dataset, BEFORE, before=run.partition, only=TRUSTED)

    def histogram(self, column: Column, traits: MetricTraits | None, undo: Undo | None = None) -> Markup:
        """The histogram of a column's numbers, and of what they are after `undo`; empty if it has none."""
        key = MetricKey("quantiles", (column.label,))
        now = self._now.get(key)
        if not isinstance(now, Quantiles):
            return Markup("")
        before = [each for each in self._read_earlier(key) if isinstance(each, Quantiles)]
        moments = column.kind in TEMPORAL
        return draw_histogram(now, before, column.label, partial(describe_value, traits), moments, undo)

    def bars(self, column: Column, kind: str) -> list[Bar]:
        """The frequent values (`frequent_values`) or patterns (`frequent_patterns`) of a column."""
        key = MetricKey(kind, (column.label,))
        now = self._now.get(key)
        if not isinstance(now, Frequencies):
            return []
        return bars_of(now, [each for each in self._read_earlier(key) if isinstance(each, Frequencies)])

    def _read_earlier(self, key: MetricKey) -> list[object]:
        return [states[key] for states in self._store.states(self._before, [key]) if key in states]
